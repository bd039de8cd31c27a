"""One request, socket or stream under way: what comes in, what is answered, and the dialect that it is spoken in."""

from __future__ import annotations

from kith.base.exchange.answers import JSON, Answer, Headers, whole
from kith.base.exchange.dialects import Dialect, Server
from kith.base.exchange.exchange import Exchange
from kith.base.exchange.incoming import Message, Receive, Scope, Send

__all__ = [
    "JSON", "Answer", "Dialect", "Exchange", "Headers", "Message", "Receive", "Scope", "Send", "Server", "whole",
]  # fmt: skip
