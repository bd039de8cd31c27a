"""Who is written to about what: people who have not been here for some time, about what they want to hear of."""

from __future__ import annotations

import hashlib
import hmac
from datetime import timedelta

import msgspec

from kith.base.errors import NotFound
from kith.base.ids import id_at
from kith.base.keys import Keys
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.ids import AccountId
from kith.social.notification_emails import store
from kith.social.notification_emails.store import EmailChoices, MailedNotification
from kith.social.push import store as push
from kith.social.timelines import markers

TYPES = ("mention", "follow", "follow_request", "quote", "favourite", "reblog")
DEFAULTS = ("mention", "follow", "follow_request", "quote")
ABSENT = timedelta(days=2)  # the use of an app is noted to the day
MOST_A_DAY = 20


class EmailChange(msgspec.Struct, kw_only=True):
    """What is left out stays as it is."""

    mention: bool | None = None
    follow: bool | None = None
    follow_request: bool | None = None
    quote: bool | None = None
    favourite: bool | None = None
    reblog: bool | None = None
    always: bool | None = None
    report: bool | None = None


async def choices_of(work: Work, me: AccountId) -> EmailChoices:
    return await store.choices_of(work.db, me) or EmailChoices(list(DEFAULTS), always=False)


async def change(work: Work, me: AccountId, wanted: EmailChange) -> EmailChoices:
    await work.db.begin()
    now = await choices_of(work, me)
    given = {name: value for name, value in msgspec.structs.asdict(wanted).items() if value is not None}
    types = [type for type in TYPES if given.get(type, type in now.types)]
    changed = EmailChoices(types, always=given.get("always", now.always), reports=given.get("report", now.reports))
    if given:
        await store.set_choices(work.db, me, changed)
    return changed


async def is_wanted(work: Work, told: MailedNotification) -> bool:
    """A mail about it is: its reader asked for this type, and has not been here, or wants mail in any case.

    Whoever has a device that is told by push hears of it anyhow. Whoever has a stream open is here: it is noted when
    they are told of something.
    """
    types = DEFAULTS if told.types is None else told.types
    if told.type not in types:
        return False
    if told.always:
        return True
    if await push.has_any(work.db, told.account_id):
        return False
    seen = await identity.last_seen(work, told.user_id)
    return seen is None or work.now - seen > ABSENT


async def is_due(work: Work, told: MailedNotification) -> bool:
    """Not if it was read meanwhile, nor beyond so many a day."""
    if told.id <= await markers.last_read(work, told.account_id, "notifications"):
        return False
    since = id_at(told.created_at - timedelta(days=1))
    return await store.count_before(work.db, told, told.types or DEFAULTS, since) < MOST_A_DAY


# Unsubscribing without signing in: the key in the mail is enough, and good for nothing else.


def _signature(work: Work, account_id: int, type: str) -> str:
    text = f"unsubscribe:{account_id}:{type}".encode()
    return hmac.new(work.find(Keys).signing, text, hashlib.sha256).hexdigest()[:40]


def unsubscribe_key(work: Work, account_id: AccountId, type: str) -> str:
    return f"{account_id}-{type}-{_signature(work, account_id, type)}"


def read_key(work: Work, key: str) -> tuple[AccountId, str]:
    """Whose key it is, and for which type."""
    account_id, _, rest = key.partition("-")
    type, _, signature = rest.partition("-")
    if not (account_id.isascii() and account_id.isdigit() and len(account_id) < 20 and type in TYPES):
        raise NotFound
    expected = _signature(work, int(account_id), type)
    if not hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace")):
        raise NotFound
    return AccountId(int(account_id)), type


async def unsubscribe(work: Work, key: str) -> str:
    """No more mail about a type; which it is."""
    account_id, type = read_key(work, key)
    await change(work, account_id, EmailChange(**{type: False}))
    return type
