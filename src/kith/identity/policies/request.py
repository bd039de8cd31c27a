"""What a policy is given, and its verdict."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.identity.expressions.subjects import PolicySubject


class PolicyRequest(msgspec.Struct, kw_only=True):
    """`person` is whom it is about (None: nobody is signed in), `context` what the flow or form knows so far.

    `hidden` is what was typed as a password, which no event or log tells. `looks_up`: whether expressions are told of
    other people. `is_test`: nothing may change. `level` counts the policies that called this one.
    """

    person: PolicySubject | None = None
    context: dict[str, Any] = {}
    client_ip: str = ""
    target: str | None = None
    stage: str = ""  # the kind of stage, where a flow asks whether it comes up
    hidden: frozenset[str] = frozenset()
    looks_up: bool = True
    is_test: bool = False
    level: int = 0


class BindingResult(msgspec.Struct, kw_only=True):
    """The result of one binding. `about` is the policy, group or user; `failure` is the error, if there was one.

    `is_unsure`: it refuses only because it could not be asked, as it failed, has expired, or whom it named is gone.
    """

    binding: str
    kind: str
    about: str
    name: str
    negate: bool
    passing: bool
    messages: list[str]
    log: list[str]
    failure: str = ""
    is_unsure: bool = False


class PolicyVerdict(msgspec.Struct, kw_only=True):
    """`messages` are for the person, `log` for the author of the policy; `trace` has the result of each binding.

    `is_unsure`: it refuses, and might not if all that is bound could have been asked.
    """

    passing: bool
    messages: list[str] = []
    log: list[str] = []
    trace: list[BindingResult] = []
    is_unsure: bool = False


class NamedIsGone(Exception):  # noqa: N818 - it is an answer, too
    """What a policy names was deleted or has another name now. It refuses, whatever the binding says about failures."""


class CannotTell(Exception):  # noqa: N818 - it is an answer, too
    """A policy cannot be decided, so the binding's `failure_result` counts. The message is shown."""
