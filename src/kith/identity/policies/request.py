"""What a policy is asked, and what it answers."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.identity.expressions.subjects import PolicySubject


class PolicyRequest(msgspec.Struct, kw_only=True):
    """`person` is whom it is about (None: nobody is signed in), `context` what the flow or a form knows so far.

    `is_test` is for trying a policy out: nothing may come of it but the answer. `level` counts the policies that
    had this one asked.
    """

    person: PolicySubject | None = None
    context: dict[str, Any] = {}
    client_ip: str = ""
    target: str | None = None
    stage: str = ""  # the kind of stage, where a flow asks whether it comes up
    is_test: bool = False
    level: int = 0


class BindingResult(msgspec.Struct, kw_only=True):
    """One binding, and what it came to. `about` names the policy, group or person, `failure` what went wrong."""

    binding: str
    kind: str
    about: str
    name: str
    negate: bool
    passing: bool
    messages: list[str]
    log: list[str]
    failure: str = ""


class Verdict(msgspec.Struct, kw_only=True):
    """`messages` are for the person, `log` is for whoever wrote the policy.

    Where several were asked, `trace` says what each of them said.
    """

    passing: bool
    messages: list[str] = []
    log: list[str] = []
    trace: list[BindingResult] = []


class CannotTell(Exception):  # noqa: N818 - it is an answer, too
    """A policy that cannot be decided. The binding says what counts then; the words are shown."""
