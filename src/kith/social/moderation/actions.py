"""What the team does to accounts, and how it is undone. Every act leaves an event in the audit trail."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.errors import Complaint, Forbidden, Invalid, NotFound
from kith.base.work import Work
from kith.identity import for_social, for_staff
from kith.social.accounts import deletion
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountChanged, AccountSensitized
from kith.social.accounts.tables import Account
from kith.social.moderation import mails, posts, store
from kith.social.moderation.appeal_keys import appeal_key
from kith.social.moderation.facts import AccountSuspended, ReportChanged
from kith.social.moderation.severing import SEVER, Sever, sever
from kith.social.moderation.tables import Strike
from kith.social.notifications import service as notifications
from kith.social.notifications.service import Notice
from kith.social.staff import Staff, record, refuse_if_above

GRACE = timedelta(days=30)
LONGEST_TEXT = 10_000
TYPES = ("none", "disable", "sensitive", "silence", "suspend", *posts.TYPES)
_FOR_STRANGERS = ("none", "sensitive", "silence", "suspend", *posts.TYPES)
_EVENTS = {"none": "warn_account"} | {type: type for type in posts.TYPES}


class Act(msgspec.Struct, kw_only=True):
    type: str
    report_id: int | None = None
    preset_id: int | None = None
    text: str = ""
    send_mail: bool = True
    status_ids: list[int] = []  # of what is done to posts; none stands for those of the report


async def act(work: Work, by: Staff, account: Account, what: Act) -> Strike:
    """Do it, tell the person, and close their open reports; what is done to posts closes the report it is about."""
    by.check("manage_users", "manage_reports")
    if what.type not in (TYPES if account.is_local else _FOR_STRANGERS):
        raise Invalid(fields={"type": [Complaint("is not included in the list", "inclusion")]})
    text = await _text(work, what)
    await work.db.hold(f"account:{account.id}")
    account = await _now(work, account)
    await refuse_if_above(work, by, account)
    await _check_report(work, account, what)
    about = await _reported(work, what.report_id)
    if what.type in posts.TYPES:
        chosen = await posts.choose(work, account, what.type, what.status_ids, [int(id) for id in about])
        about = [str(one.id) for one in chosen]
        await posts.apply(work, what.type, chosen)
    else:
        await _apply(work, by, account, what.type)
    strike = Strike(
        id=work.new_id(),
        target_id=account.id,
        account_id=by.account_id,
        action=what.type,
        text=text,
        status_ids=about,
        report_id=what.report_id,
        overruled_at=None,
        created_at=work.now,
    )
    await store.add_strike(work.db, strike)
    await _resolve(work, by, account, what)
    await record(work, by, _EVENTS.get(what.type, f"{what.type}_account"), account, text=text, status_ids=about)
    await _tell(work, account, strike, mail=what.send_mail)
    return strike


async def _now(work: Work, account: Account) -> Account:
    found = await accounts.find(work.db, account.id)
    if found is None or found.deleted_at is not None:
        raise NotFound
    return found


async def _text(work: Work, what: Act) -> str:
    preset = None if what.preset_id is None else await store.find_preset(work.db, what.preset_id)
    if what.preset_id is not None and preset is None:
        raise NotFound
    text = "\n\n".join(part for part in ("" if preset is None else preset.text, what.text.strip()) if part)
    if len(text) > LONGEST_TEXT:
        raise Invalid(fields={"text": [Complaint(f"is too long (maximum is {LONGEST_TEXT} characters)", "too_long")]})
    return text


async def _check_report(work: Work, account: Account, what: Act) -> None:
    report = None if what.report_id is None else await store.find_report(work.db, what.report_id)
    if what.report_id is not None and (report is None or report.target_id != account.id):
        raise NotFound


async def _reported(work: Work, report_id: int | None) -> list[str]:
    report = None if report_id is None else await store.find_report(work.db, report_id)
    return [] if report is None else report.status_ids


async def _resolve(work: Work, by: Staff, account: Account, what: Act) -> None:
    """A mere warning and what is done to posts close the report they are about, anything else all that are open."""
    open_ones = await store.open_of(work.db, account.id)
    if what.type == "none" or what.type in posts.TYPES:
        open_ones = [one for one in open_ones if one.id == what.report_id]
        for one in open_ones:
            taken = {"action_taken_at": work.now, "action_taken_by_id": by.account_id, "updated_at": work.now}
            await store.change(work.db, "report", one.id, taken)
    elif open_ones:
        await store.resolve_all(work.db, account.id, by.account_id, work.now)
    for one in open_ones:
        work.announce(ReportChanged(report_id=one.id))


async def _apply(work: Work, by: Staff, account: Account, type: str) -> None:
    if type == "disable" and account.user_id is not None:
        await for_staff.set_active(work, account.user_id, False, by=by.user_id, by_name=by.name)
    elif type == "sensitive" and account.sensitized_at is None:
        await accounts.change(work.db, account.id, {"sensitized_at": work.now}, work.now)
        work.announce(AccountSensitized(account_id=account.id))
    elif type == "silence" and (account.silenced_at is None or not account.is_local):
        await accounts.change(work.db, account.id, {"silenced_at": work.now}, work.now)
    elif type == "suspend":
        await suspend(work, by, account)
    work.announce(AccountChanged(account_id=account.id))


async def suspend(work: Work, by: Staff, account: Account) -> None:
    """Hidden everywhere, with every sign-in, token and app ended, all at once; the data goes after a while.

    Whoever lives elsewhere loses their follows here at once. They may be suspended already, by their own server or by
    a block of it: either may take that back, so the team's suspension has a moment of its own.
    """
    if account.suspended_at is not None and account.is_local:
        return
    await accounts.change(work.db, account.id, {"suspended_at": work.now}, work.now)
    was_active = True
    if account.user_id is not None:
        was_active = await for_staff.shut_out(work, account.user_id, by=by.user_id, by_name=by.name)
    if account.is_local:
        await store.plan_deletion(work.db, account.id, work.now + GRACE, was_active=was_active)
    else:
        work.enqueue(SEVER, Sever(ids=[account.id], type="account_suspension", name=account.acct))
    work.announce(AccountSuspended(account_id=account.id))
    work.announce(AccountChanged(account_id=account.id))


async def _tell(work: Work, account: Account, strike: Strike, *, mail: bool) -> None:
    if account.user_id is None:
        return
    notice = Notice(account.id, f"moderation_warning:{strike.id}", subject_id=strike.id)
    await notifications.tell_anyhow(work, "moderation_warning", account.id, [notice])
    if mail:
        address = await for_social.find_address(work, account.user_id)
        locale = await for_social.find_locale(work, account.user_id)
        mails.tell_of_strike(work, address, locale, account, strike, appeal_key(work, strike.id))


# And back


async def enable(work: Work, by: Staff, account: Account) -> None:
    if account.user_id is None or account.suspended_at is not None:
        raise Forbidden
    await _lift(work, by, account, "enable_account")
    await for_staff.set_active(work, account.user_id, True, by=by.user_id, by_name=by.name)


async def unsensitive(work: Work, by: Staff, account: Account) -> None:
    await _lift(work, by, account, "unsensitive_account")
    await accounts.change(work.db, account.id, {"sensitized_at": None}, work.now)
    work.announce(AccountSensitized(account_id=account.id))


async def unsilence(work: Work, by: Staff, account: Account) -> None:
    await _lift(work, by, account, "unsilence_account")
    await accounts.change(work.db, account.id, {"silenced_at": None}, work.now)


async def unsuspend(work: Work, by: Staff, account: Account) -> None:
    """Everything is there again as long as the data is; nobody is signed in by it."""
    if account.suspended_at is None:
        raise Forbidden
    await _lift(work, by, account, "unsuspend_account")
    await accounts.change(work.db, account.id, {"suspended_at": None}, work.now)
    was_active = await store.unplan_deletion(work.db, account.id)
    if account.user_id is not None and was_active:
        await for_staff.let_in_again(work, account.user_id, since=account.suspended_at, by=by.user_id, by_name=by.name)


async def _lift(work: Work, by: Staff, account: Account, action: str) -> None:
    by.check("manage_users", "manage_appeals")
    await work.db.hold(f"account:{account.id}")
    await refuse_if_above(work, by, account)
    await record(work, by, action, account)
    work.announce(AccountChanged(account_id=account.id))


UNDO = {"disable": enable, "sensitive": unsensitive, "silence": unsilence, "suspend": unsuspend}


# Accounts that wait, and data that goes for good


async def approve(work: Work, by: Staff, account: Account) -> None:
    by.check("manage_users")
    if account.user_id is None:
        raise Forbidden
    await refuse_if_above(work, by, account)
    await record(work, by, "approve_user", account)
    try:
        await for_staff.approve_signup(work, account.user_id, by=by.user_id, by_name=by.name)
    except for_staff.NotWaiting as error:
        raise Forbidden from error


async def reject(work: Work, by: Staff, account: Account) -> None:
    by.check("manage_users")
    if account.user_id is None:
        raise Forbidden
    await refuse_if_above(work, by, account)
    await record(work, by, "reject_user", account)
    try:
        await for_staff.reject_signup(work, account.user_id, by=by.user_id, by_name=by.name)
    except for_staff.NotWaiting as error:
        raise Forbidden from error


async def delete(work: Work, by: Staff, account: Account) -> None:
    """For good, and only whoever is suspended. The name stays taken."""
    by.check("delete_user_data")
    if account.suspended_at is None:
        raise Forbidden
    await refuse_if_above(work, by, account)
    await record(work, by, "destroy_account", account)
    await delete_data(work, by, account)


async def delete_data(work: Work, by: Staff, account: Account) -> None:
    """Whoever followed is told of the end before their follows end, so that they end later."""
    await store.unplan_deletion(work.db, account.id)
    severing = Sever(ids=[account.id], type="account_suspension", name=account.acct)
    if account.is_local:
        work.enqueue(SEVER, severing)
    else:
        await sever(work, severing)
    if account.user_id is not None:
        await for_staff.delete_person(work, account.user_id, by=by.user_id, by_name=by.name)
    else:
        await deletion.empty(work, account)
