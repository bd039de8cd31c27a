"""Who may sign up while the team is away."""

from __future__ import annotations

from datetime import timedelta

from kith.base.mail_texts import send
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.identity import for_staff
from kith.social.moderation import mails, team
from kith.social.staff import OPERATOR, Staff, record

AWAY = timedelta(days=8)  # a week, and the day to which it is known when somebody was here


async def ask_for_approval(work: Work) -> None:
    """Nobody who deals with reports has been here for a week: newcomers wait until somebody has looked at them."""
    began_at = await for_staff.began_at(work)
    if await identity.signup_mode(work) != "open" or began_at is None or began_at > work.now - AWAY:
        return
    for one in await team.who_may(work, "manage_reports"):
        seen_at = await identity.last_seen(work, one.user_id)
        if seen_at is not None and seen_at > work.now - AWAY:
            return
    if not await for_staff.want_approval(work):
        return
    await record(work, OPERATOR, "require_approval", reason="no moderator has been here for a week")
    for one in await team.who_may(work, "manage_settings"):
        send(work, mails.APPROVAL, one.email, one.locale, link=f"{work.settings.base_url}/admin/settings")


async def reopen(work: Work, by: Staff) -> bool:
    """Sign-ups are what the operator has set again; False if they were."""
    by.check("manage_settings")
    if not await for_staff.reopen(work):
        return False
    await record(work, by, "reopen_registrations")
    return True
