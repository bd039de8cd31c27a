"""Refuses a person whose password is older than some days."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.policies.family import POLICIES
from kith.identity.policies.request import CannotTell, PolicyRequest, Verdict
from kith.identity.rest.fields import Boolean, Integer
from kith.identity.rest.resource import Resource, kind_table
from kith.identity.users import service as users

FIELDS = (
    Integer(name="days", required=True, least=0, help="The age at which a password has expired."),
    Boolean(name="deny_only", default=False, help="False: the password is also made unusable."),
)


async def passes(work: Work, record: dict[str, Any], request: PolicyRequest) -> Verdict:
    """Unless it may only deny, an expired password stops working here and now; never in a test."""
    if request.person is None:
        raise CannotTell("Nobody is signed in.")
    user = request.person.user
    age = (work.now - (user.password_changed_at or user.created_at)).days
    if age < record["days"]:
        return Verdict(passing=True)
    if record["deny_only"]:
        return Verdict(passing=False, messages=["Password has expired."])
    if user.password is not None and not request.is_test:
        async with work.aside() as aside:
            await users.retire_password(aside, user)
    expired = f"Password expired {age - record['days']} days ago. Please update your password."
    return Verdict(passing=False, messages=[expired])


RESOURCE = Resource(
    path="/policies/passwordexpiry/",
    record="PasswordExpiryPolicy",
    key="policy_uuid",
    family=POLICIES,
    kind="passwordexpiry",
    table=kind_table("identity_policies_passwordexpiry", POLICIES, FIELDS),
    fields=FIELDS,
    exact=("name", "days", "deny_only"),
)
