"""What a policy is asked, and what it answers."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.identity.expressions.people import Person


class PolicyRequest(msgspec.Struct, kw_only=True):
    """`person` is whom it is about (None: nobody is signed in), `context` what the flow or a form knows so far.

    `is_test` is for trying a policy out: nothing may come of it but the answer.
    """

    person: Person | None = None
    context: dict[str, Any] = {}
    client_ip: str = ""
    target: str | None = None
    is_test: bool = False


class Verdict(msgspec.Struct, kw_only=True):
    """`messages` are for the person, `log` is for whoever wrote the policy."""

    passing: bool
    messages: list[str] = []
    log: list[str] = []


class CannotTell(Exception):  # noqa: N818 - it is an answer, too
    """A policy that cannot be decided. The binding says what counts then; the words are shown."""
