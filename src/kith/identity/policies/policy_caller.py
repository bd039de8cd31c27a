"""A port by which one policy evaluates another: the engine imports the kinds, so they cannot import it."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work
from kith.identity.policies.request import PolicyRequest, PolicyVerdict


class PolicyCaller(Protocol):
    async def ask(self, work: Work, name: str, request: PolicyRequest) -> PolicyVerdict:
        """The verdict of the policy with this name; `ValueError` if there is none. Every error is a no."""
