"""Denies a person whose password is older than a number of days."""

from __future__ import annotations

from datetime import datetime

from kith.base.work import Work
from kith.identity.policies.family import POLICIES, PolicyRecord
from kith.identity.policies.request import CannotTell, PolicyRequest, PolicyVerdict
from kith.identity.rest.fields import Boolean, Integer
from kith.identity.rest.resource import Resource, kind_table
from kith.identity.users import service as users
from kith.identity.users.tables import User

FIELDS = (
    Integer(name="days", required=True, least=0, help="The age at which a password has expired."),
    Boolean(
        name="deny_only",
        default=False,
        help="False: at sign-in a new one must be chosen; anywhere else the old one stops working.",
    ),
)


class PasswordExpiryPolicy(PolicyRecord, kw_only=True):
    days: int
    deny_only: bool


SIGN_IN = ("identification", "password", "userlogin")


def days_over(record: PasswordExpiryPolicy, user: User, now: datetime) -> int | None:
    """How many days ago it expired; None if it has not."""
    age = (now - (user.password_changed_at or user.created_at)).days
    return age - int(record.days) if age >= record.days else None


async def passes(work: Work, record: PasswordExpiryPolicy, request: PolicyRequest) -> PolicyVerdict:
    """An expired password is removed, unless the policy may only deny, or this is a test.

    It always passes before the stages that sign somebody in: the password stage itself checks the age and has the
    password changed. If this policy left that stage out, everybody could sign in without a password.
    """
    if request.stage in SIGN_IN:
        return PolicyVerdict(passing=True)
    if request.person is None:
        raise CannotTell("Nobody is signed in.")
    user = request.person.user
    over = days_over(record, user, work.now)
    if over is None:
        return PolicyVerdict(passing=True)
    if record.deny_only:
        return PolicyVerdict(passing=False, messages=["Password has expired."])
    if user.password is not None and not request.is_test:
        async with work.aside() as aside:
            await users.retire_password(aside, user)
    expired = f"Password expired {over} days ago. Please update your password."
    return PolicyVerdict(passing=False, messages=[expired])


RESOURCE = Resource(
    path="/policies/passwordexpiry/",
    name="PasswordExpiryPolicy",
    record=PasswordExpiryPolicy,
    key="policy_uuid",
    family=POLICIES,
    kind="passwordexpiry",
    table=kind_table("identity_policies_passwordexpiry", POLICIES, FIELDS),
    fields=FIELDS,
    exact=("name", "days", "deny_only"),
)
