"""How one policy has another asked. The engine knows every kind of policy, so no kind can know the engine."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work
from kith.identity.policies.request import PolicyRequest, Verdict


class PolicyCaller(Protocol):
    async def ask(self, work: Work, name: str, request: PolicyRequest) -> Verdict:
        """What the policy of this name says; `ValueError` if there is none. Whatever goes wrong is a no."""
