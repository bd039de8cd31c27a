"""Appeals: somebody thinks that what the team did to them is wrong, and the team looks at it again."""

from __future__ import annotations

from datetime import timedelta

from kith.base.db import Taken
from kith.base.errors import Complaint, Forbidden, Invalid, NotFound
from kith.base.mail_texts import MailText, send
from kith.base.work import Work
from kith.identity import for_social, for_staff
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.moderation import actions, mails, posts, store, team
from kith.social.moderation.tables import Appeal, Strike
from kith.social.staff import Staff, record, refuse_if_above

LONGEST_TEXT = 2000
IN_TIME = timedelta(days=20)


async def create(work: Work, strike: Strike, text: str) -> Appeal:
    """One for each strike, within 20 days."""
    text = text.strip()
    complaint = _complaint(work, strike, text)
    if complaint is not None:
        raise Invalid(fields={"text": [complaint]})
    appeal = Appeal(work.new_id(), strike.id, strike.target_id, text, "pending", None, None, work.now)
    try:
        async with work.db.savepoint():
            await store.add_appeal(work.db, appeal)
    except Taken as error:
        raise Invalid(fields={"strike": [Complaint("has already been appealed", "taken")]}) from error
    account = await _target(work, strike)
    for one in await team.who_may(work, "manage_appeals"):
        send(
            work,
            mails.APPEAL,
            one.email,
            one.locale,
            person=account.acct,
            decision=strike.action,
            text=text,
            number=str(appeal.id),
            link=f"{work.settings.base_url}/admin/appeals",
        )
    return appeal


def _complaint(work: Work, strike: Strike, text: str) -> Complaint | None:
    if not text:
        return Complaint("can't be blank", "blank")
    if len(text) > LONGEST_TEXT:
        return Complaint(f"is too long (maximum is {LONGEST_TEXT} characters)", "too_long")
    if work.now - strike.created_at > IN_TIME or strike.overruled_at is not None:
        return Complaint("can no longer be sent: the time for it is over")
    return None


async def _target(work: Work, strike: Strike) -> Account:
    account = await accounts.find(work.db, strike.target_id)
    if account is None:
        raise NotFound
    return account


async def find(work: Work, appeal_id: int) -> Appeal:
    found = await store.find_appeal(work.db, appeal_id)
    if found is None:
        raise NotFound
    return found


async def approve(work: Work, by: Staff, appeal: Appeal) -> Appeal:
    """What was done is undone, where it still holds."""
    strike = await _decide(work, by, appeal, "approved")
    account = await _target(work, strike)
    undo = actions.UNDO.get(strike.action)
    if undo is not None and await _still_holds(work, strike, account):
        await undo(work, by, account)
    await posts.unmark(work, strike)
    await store.change(work.db, "strike", strike.id, {"overruled_at": work.now})
    await record(work, by, "approve_appeal", account, strike={"id": str(strike.id)})
    await _tell(work, account, mails.APPEAL_APPROVED)
    return await find(work, appeal.id)


async def reject(work: Work, by: Staff, appeal: Appeal) -> Appeal:
    strike = await _decide(work, by, appeal, "rejected")
    account = await _target(work, strike)
    await record(work, by, "reject_appeal", account, strike={"id": str(strike.id)})
    await _tell(work, account, mails.APPEAL_REJECTED)
    return await find(work, appeal.id)


async def _decide(work: Work, by: Staff, appeal: Appeal, state: str) -> Strike:
    """Of two who decide at once, the second is refused."""
    by.check("manage_appeals")
    await work.db.hold(f"appeal:{appeal.id}")
    if (await find(work, appeal.id)).state != "pending":
        raise Forbidden
    strike = await store.find_strike(work.db, appeal.strike_id)
    if strike is None:
        raise NotFound
    await refuse_if_above(work, by, await _target(work, strike))
    decided = {"state": state, "decided_by_id": by.account_id, "decided_at": work.now}
    await store.change(work.db, "appeal", appeal.id, decided)
    return strike


async def _still_holds(work: Work, strike: Strike, account: Account) -> bool:
    if strike.action != "disable":
        held = {"sensitive": account.sensitized_at, "silence": account.silenced_at, "suspend": account.suspended_at}
        return held.get(strike.action) is not None
    if account.user_id is None or account.suspended_at is not None:
        return False
    person = (await for_staff.staff_view.records_of(work.db, [account.user_id])).get(account.user_id)
    return person is not None and not person.is_active


async def _tell(work: Work, account: Account, text: MailText) -> None:
    if account.user_id is not None:
        address = await for_social.find_address(work, account.user_id)
        send(work, text, address, await for_social.find_locale(work, account.user_id), name=account.acct)
