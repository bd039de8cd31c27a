"""Whether a source's policies admit somebody, and refusals of what comes from sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.expressions import subjects
from kith.identity.policies.engine import Mode, evaluate_target
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.policies.verdict_report import explain
from kith.identity.refusals import service as refusals
from kith.identity.sources.outcomes import SourceError
from kith.identity.sources.store import Source
from kith.identity.users import store as users

if TYPE_CHECKING:
    from kith.identity.sources.arrival import Arrival


async def find_refusal(exchange: Exchange, arrival: Arrival, user_id: int | None) -> SourceError | None:
    """The page for whom the policies of the source do not admit; None for everybody else."""
    source, work = arrival.source, exchange.work
    context: dict[str, Any] = {
        "is_sso": True,
        "source": {"pk": source.pbm_uuid, "name": source.name, "slug": source.slug, "kind": source.kind},
        "identifier": arrival.identifier,
        "prompt_data": arrival.properties,
        "oauth_userinfo": arrival.told,
    }
    verdict = await ask_policies(work, source, user_id, context, client_ip=exchange.address)
    if verdict.passing:
        return None
    words = " ".join(verdict.messages) or f"This server does not admit you through {source.name}."
    details = {"policies": await explain(work, verdict), "identifier": arrival.identifier}
    return await refused(exchange, source, words, "the policies of the source refused", status=403, details=details)


async def ask_policies(
    work: Work, source: Source, user_id: int | None, context: dict[str, Any], *, client_ip: str
) -> PolicyVerdict:
    """Ask the policies of the source about somebody who comes from it."""
    person = await subjects.find(work, user_id) if user_id is not None else None
    request = PolicyRequest(person=person, context=context, client_ip=client_ip)
    mode: Mode = "any" if source.policy_engine_mode == "any" else "all"
    return await evaluate_target(work, source.pbm_uuid, request, mode)


async def refused(
    exchange: Exchange,
    source: Source,
    words: str,
    reason: str,
    *,
    status: int,
    details: dict[str, Any] | None = None,
) -> SourceError:
    """Store a refusal, which staff find by its code, and return its page."""
    visitor = exchange.user_id
    async with exchange.work.aside() as work:
        code = await refusals.refuse(
            work,
            area=f"source {source.slug}",
            message=words,
            reason=reason,
            details=details,
            target=source.pbm_uuid,
            user=await users.find_by_id(work.db, visitor) if visitor is not None else None,
        )
    return SourceError(title="Not allowed", messages=[words], status=status, refusal=code)
