"""Of whom a service is told: whoever may enter its application, and the groups that concern it."""

from __future__ import annotations

from collections.abc import Sequence

from kith.base.work import Work
from kith.identity.admission import Admission
from kith.identity.expressions import subjects
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.policies.engine import Mode, evaluate_target
from kith.identity.policies.request import PolicyRequest
from kith.identity.providers.scim import group_store
from kith.identity.providers.scim.target import ScimTarget


async def person_in_scope(work: Work, target: ScimTarget, user_id: int) -> PolicySubject | None:
    """The person if the service is to have them, else None."""
    person = await subjects.find(work, user_id) if target.application is not None else None
    return person if person is not None and await _is_in_scope(work, target, person) else None


async def people_in_scope(work: Work, target: ScimTarget, user_ids: Sequence[int]) -> set[int]:
    """Those of some people whom the service is to have."""
    if target.application is None:
        return set()
    found = await subjects.find_many(work, user_ids)
    return {user_id for user_id, person in found.items() if await _is_in_scope(work, target, person)}


async def _is_in_scope(work: Work, target: ScimTarget, person: PolicySubject) -> bool:
    """Policies are asked as a test: nobody enters now."""
    user = person.user
    if target.application is None:
        return False
    if not user.is_active or user.confirmed_at is None or user.approved_at is None:
        return False
    if target.exclude_service_accounts and user.type == "service_account":
        return False
    if target.filter_group is not None and not person.is_in(target.filter_group):
        return False
    if not await work.find(Admission).may_sign_in(work, user.id):  # type: ignore[type-abstract]
        return False
    if not target.is_bound:
        return True
    application = {"pk": target.application, "name": target.application_name, "slug": target.slug}
    request = PolicyRequest(person=person, context={"application": application}, is_test=True)
    mode: Mode = "any" if target.policy_engine_mode == "any" else "all"
    verdict = await evaluate_target(work, target.application, request, mode)
    return verdict.passing


async def is_group_in_scope(work: Work, target: ScimTarget, group_uuid: str) -> bool:
    if target.application is None:
        return False
    if target.filter_group is None:
        return True
    return target.filter_group in await group_store.group_and_above(work.db, group_uuid)
