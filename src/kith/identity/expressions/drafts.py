"""Expressions that are tried before they are saved."""

from __future__ import annotations

import asyncio
from typing import Any

from kith.base.errors import Complaint, Invalid
from kith.identity.caller import ApiCaller
from kith.identity.expressions.syntax import complain

__all__ = ["LOOKS_UP", "LOOKS_UP_REFUSED", "read_draft"]

# In an expression: it asks about people of its choice, or tells a name server what it knows of people.
LOOKS_UP = ("user_by", "has_authenticator", "resolve_dns", "reverse_dns")
LOOKS_UP_REFUSED = "To look up people or names of hosts in an expression takes the right core.view_user."


async def read_draft(caller: ApiCaller, sent: dict[str, Any]) -> str:
    """The expression as it would be saved; refused for what saving it would be refused for."""
    expression = sent.get("expression")
    if not isinstance(expression, str) or not expression.strip():
        words = "This field is required." if expression is None else "Not a valid string."
        raise Invalid(fields={"expression": [Complaint(words, "required" if expression is None else "invalid")]})
    if not caller.may("core.view_user") and any(word in expression for word in LOOKS_UP):
        raise Invalid(fields={"expression": [LOOKS_UP_REFUSED]})
    wrong = await asyncio.to_thread(complain, expression)
    if wrong is not None:
        raise Invalid(fields={"expression": [Complaint(f"Expression Syntax Error: {wrong}", "syntax")]})
    return expression
