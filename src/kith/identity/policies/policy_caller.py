"""A port by which one policy evaluates another: the engine imports the kinds, so they cannot import it."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work
from kith.identity.policies.request import PolicyRequest, PolicyVerdict


class NoPolicy(ValueError):  # noqa: N818 - an answer
    """There is no policy of this name, or it names something that is gone."""


class PolicyCaller(Protocol):
    async def ask(self, work: Work, name: str, request: PolicyRequest) -> PolicyVerdict:
        """The verdict of the policy with this name; `NoPolicy` if there is none.

        What goes wrong in it is raised as `ValueError`: whoever asks may turn a no around.
        """
