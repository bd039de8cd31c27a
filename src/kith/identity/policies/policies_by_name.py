"""Evaluating a policy by its name, for kinds of policies, which cannot import the engine."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from kith.base.db import query
from kith.base.work import Work
from kith.identity.policies import engine
from kith.identity.policies.family import policies
from kith.identity.policies.policy_caller import NoPolicy
from kith.identity.policies.request import NamedIsGone, PolicyRequest, PolicyVerdict

_by_name = query(select(policies.c.policy_uuid, policies.c.kind).where(policies.c.name == bindparam("called")), tuple)


class PoliciesByName:
    """Implements `policy_caller.PolicyCaller`."""

    async def ask(self, work: Work, name: str, request: PolicyRequest) -> PolicyVerdict:
        found = await work.db.one(_by_name, called=name)
        if found is None:
            raise NoPolicy(f"there is no policy {name[:100]!r}")
        policy_uuid, kind = found
        try:
            return await engine.evaluate_policy(work, policy_uuid, kind, request)
        except NamedIsGone as error:
            raise NoPolicy(str(error)) from error
        except Exception as error:
            raise ValueError(engine.words_of(error)) from error
