"""What the team is told later."""

from __future__ import annotations

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity import for_staff
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountWelcomed
from kith.social.moderation import actions, signups, store, team
from kith.social.notifications import service as notifications
from kith.social.notifications.service import Notice
from kith.social.staff import OPERATOR


class DeleteData(msgspec.Struct):
    """Of accounts that have been suspended for long enough."""


async def delete_data(work: Work, _payload: DeleteData) -> None:
    for id in await store.due_deletions(work.db, work.now):
        account = await accounts.find(work.db, id)
        if account is None or account.suspended_at is None or account.deleted_at is not None:
            await store.unplan_deletion(work.db, id)
        else:
            await actions.delete_data(work, OPERATOR, account)


class WatchTeam(msgspec.Struct):
    """Whether somebody of the team has been here lately."""


async def watch_team(work: Work, _payload: WatchTeam) -> None:
    await signups.ask_for_approval(work)


async def tell_of_sign_up(work: Work, fact: AccountWelcomed) -> None:
    """Of whoever signed up by themselves, once they are in."""
    account = await accounts.find(work.db, fact.account_id)
    if account is None or account.user_id is None or account.is_gone:
        return
    person = (await for_staff.staff_view.records_of(work.db, [account.user_id])).get(account.user_id)
    if person is None or not person.signed_up:
        return
    notices = [
        Notice(one.account_id, f"admin.sign_up:{account.id}:{one.account_id}")
        for one in await team.who_may(work, "manage_users")
        if one.account_id is not None and one.account_id != account.id
    ]
    await notifications.tell_anyhow(work, "admin.sign_up", account.id, notices)


DELETE_DATA: JobKind[DeleteData] = JobKind(name="moderation.delete_data", payload=DeleteData, handler=delete_data)
WATCH_TEAM: JobKind[WatchTeam] = JobKind(name="moderation.watch_team", payload=WatchTeam, handler=watch_team)
TELL_OF_SIGN_UP: JobKind[AccountWelcomed] = JobKind(
    name="moderation.sign_up", payload=AccountWelcomed, handler=tell_of_sign_up
)
