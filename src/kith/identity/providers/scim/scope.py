"""Of whom a service is told: whoever may enter its application, and the groups that concern it."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.admission import Admission
from kith.identity.expressions import subjects
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.policies.engine import Mode, evaluate_target
from kith.identity.policies.request import PolicyRequest
from kith.identity.providers.scim import store
from kith.identity.providers.scim.target import ScimTarget


async def person_in_scope(work: Work, target: ScimTarget, user_id: int) -> PolicySubject | None:
    """The person if the service is to have them, else None. Policies are asked as a test: nobody enters now."""
    person = await subjects.find(work, user_id) if target.application is not None else None
    if person is None or target.application is None:
        return None
    user = person.user
    if not user.is_active or user.confirmed_at is None or user.approved_at is None:
        return None
    if target.exclude_service_accounts and user.type == "service_account":
        return None
    if target.filter_group is not None and not person.is_in(target.filter_group):
        return None
    if not await work.find(Admission).may_sign_in(work, user_id):  # type: ignore[type-abstract]
        return None
    if not target.is_bound:
        return person
    application = {"pk": target.application, "name": target.application_name, "slug": target.slug}
    request = PolicyRequest(person=person, context={"application": application}, is_test=True)
    mode: Mode = "any" if target.policy_engine_mode == "any" else "all"
    verdict = await evaluate_target(work, target.application, request, mode)
    return person if verdict.passing else None


async def is_group_in_scope(work: Work, target: ScimTarget, group_uuid: str) -> bool:
    if target.application is None:
        return False
    if target.filter_group is None:
        return True
    return target.filter_group in await store.group_and_above(work.db, group_uuid)
