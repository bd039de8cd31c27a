"""People on other servers as accounts here: what their actor documents say, in our rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kith.base.settings import Settings
from kith.base.work import Work
from kith.federation.ended import store as ended
from kith.federation.keys.remote_keys import write_pem
from kith.federation.people import store
from kith.federation.people.refollowing import REFOLLOW, Refollow
from kith.federation.people.tables import RemoteActor, RemoteActorKey
from kith.federation.vocabulary.incoming import DocumentRefused, Handle, IncomingActor, IncomingKey, limits
from kith.federation.vocabulary.incoming.actors import is_username
from kith.federation.vocabulary.incoming.ids import domain_of
from kith.federation.vocabulary.incoming.images import IncomingImage
from kith.social.accounts import deletion, remote_pictures, verification
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountChanged
from kith.social.accounts.new_rows import new_account
from kith.social.accounts.tables import Account
from kith.social.admission.marks import marks_for
from kith.social.emojis import remote as emojis
from kith.social.ids import AccountId
from kith.social.text.html import kept

__all__ = ["ActorCounts", "is_ours", "store_actor"]

FIELD_TAGS = 50  # of HTML, in one field of a profile
FIELDS_LENGTH = 32_000  # of all fields together; each page that shows somebody holds them
_INBOXES = (
    "inbox",
    "shared_inbox",
    "outbox",
    "followers",
    "following",
    "featured",
    "featured_tags",
    "devices",
)


class ActorCounts(msgspec.Struct, frozen=True):
    """How many there are by the word of the actor's own server; None where it does not tell."""

    statuses: int | None = None
    followers: int | None = None
    following: int | None = None


def is_ours(settings: Settings, uri: str) -> bool:
    """Whether an id is of this server, or of the domain of its handles: nobody else may speak for it."""
    return settings.is_own_domain(domain_of(uri))


async def store_actor(
    work: Work,
    actor: IncomingActor,
    *,
    handle: Handle | None = None,
    keys: Sequence[IncomingKey] = (),
    counts: ActorCounts | None = None,
    is_proven: bool = False,
) -> Account:
    """The account of `actor`, made or changed.

    `handle` is what WebFinger has confirmed; without it a known account keeps its name, and an unknown one is refused.
    `keys` are those that had to be fetched; they count beside those of the document. Whoever comes with the handle of
    somebody else takes it over: the same person at a new address, whose followers here follow them anew. Whose keys are
    all others has begun anew, too, unless one of the keys that were known has told of them (`is_proven`).
    """
    if is_ours(work.settings, actor.id) or (handle is not None and work.settings.is_own_domain(handle.domain)):
        raise DocumentRefused("wrong_host", actor.id)
    if handle is not None and not is_username(handle.username):
        raise DocumentRefused("no_username", handle.username[:50])
    await work.db.hold(f"federation.actor:{actor.id}")
    found = await accounts.find_by_uri(work.db, actor.id)
    if handle is not None:
        await work.db.hold(f"federation.handle:{handle.username.lower()}@{handle.domain}")
        found = await _with_handle(work, found, handle)
    if found is None and handle is None:
        raise DocumentRefused("no_username", actor.id)
    account = await _insert(work, actor, handle) if found is None and handle is not None else found
    assert account is not None  # noqa: S101 - one of the two
    is_same_uri = account.uri == actor.id
    await emojis.remember(work, account.domain, actor.emojis)
    await _change(work, account, actor, handle, counts or ActorCounts())
    has_other_keys = await _set_keys(work, account.id, actor, keys)
    await _save(work, account, actor)
    if has_other_keys and not is_proven:
        await ended.forget_of(work.db, actor.id)
    if not is_same_uri:
        work.enqueue(REFOLLOW, Refollow(account_id=account.id), key=str(account.id))
    now = await accounts.find(work.db, account.id)
    assert now is not None  # noqa: S101 - it was just written
    return now


async def _with_handle(work: Work, found: Account | None, handle: Handle) -> Account | None:
    """Whoever has the handle so far: the same account, the one to be taken over, or one that has to give way."""
    other = await accounts.find_named(work.db, handle.username, handle.domain)
    if other is None or found is None or other.id == found.id:
        return found or other
    await deletion.empty(work, other)
    former = f"{other.username}+{other.id}"
    await accounts.change(work.db, other.id, {"username": former, "username_key": former.lower()}, work.now)
    return found


async def _insert(work: Work, actor: IncomingActor, handle: Handle) -> Account:
    account = new_account(
        AccountId(work.new_id()),
        username=handle.username,
        domain=handle.domain,
        uri=actor.id,
        url=actor.url,
        now=work.now,
        actor_type=actor.type,
        locked=actor.is_locked,
        created_at=min(actor.published or work.now, work.now),
        fetched_at=work.now,
        **msgspec.structs.asdict(await marks_for(work, handle.domain)),
    )
    await accounts.insert(work.db, account)
    work.announce(AccountChanged(account_id=account.id))
    return account


async def _change(
    work: Work, account: Account, actor: IncomingActor, handle: Handle | None, counts: ActorCounts
) -> None:
    values = _told(account, actor) | _counted(counts)
    values |= remote_pictures.columns(account, "avatar", _picture(actor.avatar))
    values |= remote_pictures.columns(account, "header", _picture(actor.header))
    values["moved_to"] = await _moved_to(work, account, actor)
    if handle is not None:
        values |= {"username": handle.username, "username_key": handle.username.lower(), "domain": handle.domain}
        if handle.domain != account.domain:
            values |= await _other_marks(work, account, handle.domain)
    changed = {name: value for name, value in values.items() if getattr(account, name) != value}
    if not changed:
        await store.fetched(work.db, account.id, work.now)
        return
    await accounts.change(work.db, account.id, changed | {"fetched_at": work.now}, work.now)
    await remote_pictures.forget(work, account, changed)
    work.announce(AccountChanged(account_id=account.id))
    if "fields" in changed:
        verification.verify_later(work, account.id, changed["fields"])


async def _other_marks(work: Work, account: Account, domain: str) -> dict[str, Any]:
    """What changes with the domain of a handle: what the rules for the old one gave, never what the team decided."""
    given = msgspec.structs.asdict(await marks_for(work, account.domain or ""))
    now = msgspec.structs.asdict(await marks_for(work, domain))
    return {name: value for name, value in now.items() if getattr(account, name) == given[name]}


def _picture(told: IncomingImage | None) -> tuple[str, str] | None:
    return None if told is None else (told.url, told.description)


def _told(account: Account, actor: IncomingActor) -> dict[str, Any]:
    """What the document says, as columns. Somebody who was gone and answers again is back."""
    return {
        "uri": actor.id,
        "url": actor.url,
        "actor_type": actor.type,
        "display_name": " ".join(actor.name.split()),
        "note": actor.summary,
        "note_html": kept(actor.summary, most=limits.SUMMARY_BYTES),
        "fields": _fields(account, actor),
        "locked": actor.is_locked,
        "discoverable": actor.is_discoverable,
        "indexable": bool(actor.is_indexable),
        "memorial": actor.is_memorial,
        "also_known_as": list(actor.aliases),
        "attribution_domains": list(actor.attribution_domains),
        "show_media": actor.shows_media is not False,
        "show_media_replies": actor.shows_replies_in_media is not False,
        "show_featured": actor.shows_featured is not False,
        "deleted_at": None,
    }


def _fields(account: Account, actor: IncomingActor) -> list[dict[str, Any]]:
    """The fields of a profile. Very long ones share the room there is; one that says what it said stays verified."""
    verified = {(one["name"], one["value"]): one.get("verified_at") for one in account.fields}
    is_long = sum(len(one.name) + len(one.value) for one in actor.fields) > FIELDS_LENGTH
    most = FIELDS_LENGTH // len(actor.fields) // 2 if is_long else 3 * limits.FIELD_LENGTH
    told = [(one.name[:most], kept(one.value, most=most, tags=FIELD_TAGS)) for one in actor.fields]
    return [{"name": name, "value": value, "verified_at": verified.get((name, value))} for name, value in told]


def _counted(counts: ActorCounts) -> dict[str, int]:
    told = {f"{name}_count": getattr(counts, name) for name in ActorCounts.__struct_fields__}
    return {name: value for name, value in told.items() if value is not None}


async def _moved_to(work: Work, account: Account, actor: IncomingActor) -> AccountId | None:
    """Where somebody has moved to, if that is known here: whoever fetches an actor fetches its new home first."""
    if actor.moved_to is None:
        return None
    target = await accounts.find_by_uri(work.db, actor.moved_to)
    return None if target is None or target.id == account.id else target.id


async def _set_keys(work: Work, account_id: AccountId, actor: IncomingActor, more: Sequence[IncomingKey]) -> bool:
    """Whether none of the keys is one that was known. Keys at addresses that were not asked now stay as they were."""
    before = await store.keys_of_account(work.db, account_id)
    given = {one.id: one for one in (*actor.keys.keys, *more)}
    rows = [RemoteActorKey(one.id, account_id, write_pem(one.key), work.now) for one in given.values()]
    rows += [one for one in before if one.id in actor.keys.elsewhere and one.id not in given]
    await store.set_keys(work.db, account_id, rows)
    known = {one.public_key for one in before}
    return bool(known) and not any(one.public_key in known for one in rows)


async def _save(work: Work, account: Account, actor: IncomingActor) -> None:
    """Where it is written to; and whether its own server has suspended it, which that server may take back."""
    before = await store.find_actor(work.db, account.id) or RemoteActor(account.id, actor.inbox)
    values = {name: getattr(actor, name) for name in _INBOXES}
    mark = before.suspended_at
    if actor.is_suspended and mark is None and account.suspended_at is None:
        mark = work.now
        await accounts.change(work.db, account.id, {"suspended_at": mark}, work.now)
    elif not actor.is_suspended and mark is not None:
        if account.suspended_at == mark:
            await accounts.change(work.db, account.id, {"suspended_at": None}, work.now)
        mark = None
    await store.save_actor(work.db, msgspec.structs.replace(before, **values, suspended_at=mark))
