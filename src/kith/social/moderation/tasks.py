"""What the team is told later."""

from __future__ import annotations

from kith.base.jobs import Kind
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountWelcomed
from kith.social.moderation import team
from kith.social.notifications import service as notifications
from kith.social.notifications.service import Notice


async def tell_of_sign_up(work: Work, fact: AccountWelcomed) -> None:
    """Of whoever signed up by themselves, once they are in."""
    account = await accounts.find(work.db, fact.account_id)
    if account is None or account.user_id is None or account.is_gone:
        return
    person = (await identity.staff_view.records_of(work.db, [account.user_id])).get(account.user_id)
    if person is None or not person.signed_up:
        return
    notices = [
        Notice(one.account_id, f"admin.sign_up:{account.id}:{one.account_id}")
        for one in await team.who_may(work, "manage_users")
        if one.account_id is not None and one.account_id != account.id
    ]
    await notifications.tell_anyhow(work, "admin.sign_up", account.id, notices)


TELL_OF_SIGN_UP: Kind[AccountWelcomed] = Kind(
    name="moderation.sign_up", payload=AccountWelcomed, handler=tell_of_sign_up
)
