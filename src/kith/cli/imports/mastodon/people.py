"""People: who lives there with their records, keys and preferences, and whoever they know elsewhere."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, Literal

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from sqlalchemy import select

from kith.base.db import any_of, insert_into, query
from kith.cli.imports.mastodon.move import Move, RowBatch
from kith.cli.imports.mastodon.staging import Row
from kith.cli.imports.mastodon.values import at, document, is_true, must_at, text, uri_in, web_address, words
from kith.federation.keys import store as keys
from kith.federation.keys.remote_keys import read_pem, write_pem
from kith.federation.keys.service import PLACE as KEY_PLACE
from kith.federation.keys.tables import ActorKey
from kith.federation.signatures.refusals import SignatureRefused
from kith.identity.for_social import Sealer
from kith.identity.users.brought_passwords import BCRYPT
from kith.identity.users.names import email_key, username_key
from kith.identity.users.tables import users
from kith.social.accounts.new_rows import new_account
from kith.social.accounts.remote_pictures import columns
from kith.social.accounts.tables import Account
from kith.social.addresses import profile_url, tag_url
from kith.social.ids import AccountId
from kith.social.moderation.actions import GRACE
from kith.social.text.html import kept, to_html, to_line
from kith.social.webpages.values import is_web

__all__ = ["LOCAL", "REMOTE", "SERVER", "take_counts", "take_local", "take_moves", "take_remote", "take_server"]

_U = (
    "u.id AS user_number, u.email, u.created_at AS joined_at, u.encrypted_password, u.confirmed_at, u.locale,"
    " u.disabled, u.approved, u.role_id, u.settings, u.chosen_languages, u.current_sign_in_at, u.sign_up_ip,"
    " r.text AS reason"
)
LOCAL = (
    f"t.*, {_U} FROM accounts t JOIN kept_accounts k ON k.id = t.id LEFT JOIN users u ON u.account_id = t.id"
    " LEFT JOIN user_invite_requests r ON r.user_id = u.id WHERE t.domain IS NULL"
)
SERVER = "t.* FROM (SELECT 1 AS id, username, private_key, created_at FROM accounts WHERE id = -99) t WHERE 1"
REMOTE = "t.* FROM accounts t JOIN kept_accounts k ON k.id = t.id WHERE t.domain IS NOT NULL"
_TYPES = frozenset({"Person", "Service", "Group", "Organization", "Application"})
_PRIVACY = frozenset({"public", "unlisted", "private"})
MOST_COST = 15

_insert_user = query(insert_into(users, without=["id"]).returning(users.c.id), int)
_owned = query(select(users.c.owned_email_key).where(any_of(users.c.owned_email_key, "keys")), str)
_called = query(select(users.c.username_key).where(any_of(users.c.username_key, "keys")), str)


async def take_local(move: Move, batch: RowBatch) -> None:
    addresses = [email_key(row["email"]) for row in batch.items if row["email"]]
    owned = {one for statement in (_owned, _called) for one in await batch.work.db.all(statement, keys=addresses)}
    for row in batch.items:
        user_id = await _take_user(move, batch, row, owned) if row["user_number"] is not None else None
        _take_account(move, batch, row, user_id)
        batch.taken += 1


async def _take_user(move: Move, batch: RowBatch, row: Row, owned: set[str]) -> int | None:
    now, name = move.started_at, text(row, "username")
    email, confirmed = text(row, "email")[:254], at(row, "confirmed_at")
    key = email_key(email)[:254]
    owns = bool(email) and confirmed is not None and key not in owned
    if email and confirmed is not None and not owns:
        batch.leave(name, "its e-mail address belongs to somebody else here", step="users")
    owned.add(key)
    password = text(row, "encrypted_password") or None
    if password is not None and not _is_usable(password):
        batch.leave(name, "its password is not hashed with bcrypt: it must be set anew", step="users")
        password = None
    joined = must_at(row, "joined_at", now)
    locale = text(row, "locale")
    values = {
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{move.settings.base_url}/users/{name}")),
        "username": name,
        "username_key": username_key(name),
        "name": text(row, "display_name")[:500] or name,
        "email": email,
        "email_key": key,
        "password": password,
        "is_active": not is_true(row, "disabled") and row["suspended_at"] is None,
        "role": move.roles.get(row["role_id"] or 0, ("user", None))[0],
        "type": "internal",
        "path": "users",
        "attributes": {"settings": {"locale": locale}} if locale else {},
        "created_at": joined,
        "updated_at": now,
        "last_login_at": at(row, "current_sign_in_at"),
        "password_changed_at": joined if password else None,
        "confirmed_at": confirmed,
        "approved_at": joined if is_true(row, "approved", default=True) else None,
        "owned_email_key": key if owns else None,
        "email_verified_at": confirmed if owns else None,
        "expires": None,
        "last_seen_at": at(row, "current_sign_in_at"),
        "subject": None,
        "disabled_at": now if is_true(row, "disabled") else at(row, "suspended_at"),
        "disabled_by": None,
    }
    made = await batch.work.db.one(_insert_user, **values)
    if row["reason"] or not values["approved_at"]:
        batch.rows.add(
            "identity_signups",
            user_id=made,
            reason=text(row, "reason")[:2000],
            locale=locale[:35],
            client_ip=text(row, "sign_up_ip").partition("/")[0][:45],
            client_name="",
            created_at=joined,
            autofollow=False,
        )
    return made


def _is_usable(password: str) -> bool:
    """A hash that would take minutes to check is none."""
    return password.startswith(BCRYPT) and password[4:6].isdigit() and int(password[4:6]) <= MOST_COST


def _take_account(move: Move, batch: RowBatch, row: Row, user_id: int | None) -> None:
    settings, id = move.settings, AccountId(row["id"])
    name, note = text(row, "username"), text(row, "note")
    base, role_id = move.roles.get(row["role_id"] or 0, ("user", None))
    suspended = at(row, "suspended_at")
    joined = must_at(row, "created_at", move.started_at)
    account = new_account(
        id,
        username=name,
        domain="",
        uri=move.actor_uri(id, name, row["id_scheme"]),
        url=profile_url(settings, name),
        now=move.started_at,
        user_id=user_id,
        **_told(row),
        note=note,
        note_html=to_html(note, {}, lambda tag: tag_url(settings, tag), own_links=True),
        fields=_fields(move, row),
        role=base,
        role_id=role_id,
        noindex=bool((document(row, "settings") or {}).get("noindex")),
        is_listed=user_id is None or (at(row, "confirmed_at") is not None and is_true(row, "approved", default=True)),
        deleted_at=suspended or move.started_at if user_id is None else None,
        created_at=joined,
    )
    batch.rows.add("social_accounts", **msgspec.structs.asdict(account))
    key = _key(move, batch, row, id)
    if key is not None:
        batch.rows.add("federation_keys", **msgspec.structs.asdict(key))
    if user_id is not None:
        batch.rows.add("social_preferences", account_id=id, **_preferences(row))
    if user_id is not None and suspended is not None:
        active = not is_true(row, "disabled")
        batch.rows.add("social_deletions", account_id=id, due_at=move.started_at + GRACE, was_active=active)


def _told(row: Row) -> dict[str, Any]:
    """What is alike of people here and elsewhere."""
    kind = text(row, "actor_type")
    return {
        "actor_type": kind if kind in _TYPES else "Person",
        "display_name": " ".join(text(row, "display_name").split()),
        "locked": is_true(row, "locked"),
        "discoverable": None if row["discoverable"] is None else is_true(row, "discoverable"),
        "indexable": is_true(row, "indexable"),
        "hide_collections": None if row["hide_collections"] is None else is_true(row, "hide_collections"),
        "attribution_domains": words(row, "attribution_domains"),
        "also_known_as": [one for one in words(row, "also_known_as") if is_web(one)],
        "memorial": is_true(row, "memorial"),
        "silenced_at": at(row, "silenced_at"),
        "sensitized_at": at(row, "sensitized_at"),
        "suspended_at": at(row, "suspended_at"),
    }


def _fields(move: Move, row: Row) -> list[dict[str, Any]]:
    found = document(row, "fields")
    made: list[dict[str, Any]] = []
    for one in found if isinstance(found, list) else []:
        if not isinstance(one, dict):
            continue
        name, value = (str(one.get(key) or "").replace("\0", "") for key in ("name", "value"))
        if row["domain"] is not None:
            made.append({"name": name, "value": kept(value), "verified_at": one.get("verified_at")})
        elif name or value:
            html = to_line(value, {}, lambda tag: tag_url(move.settings, tag))
            made.append({"name": name, "value": value, "html": html, "verified_at": one.get("verified_at")})
    return made


def _preferences(row: Row) -> dict[str, Any]:
    """What Mastodon keeps as one document of somebody's settings."""
    found = document(row, "settings")
    chosen: dict[str, Any] = found if isinstance(found, dict) else {}
    privacy = chosen.get("default_privacy")
    expand = chosen.get("web.display_media")
    languages = words(row, "chosen_languages")
    language = chosen.get("default_language")
    return {
        "privacy": privacy if privacy in _PRIVACY else None,
        "sensitive": bool(chosen.get("default_sensitive")),
        "language": language[:35] if isinstance(language, str) and language else None,
        "quote_policy": _quotes(chosen.get("default_quote_policy")),
        "expand_media": expand if expand in ("default", "show_all", "hide_all") else "default",
        "expand_spoilers": bool(chosen.get("web.expand_content_warnings")),
        "autoplay_gifs": bool(chosen.get("web.auto_play")),
        "aggregate_reblogs": chosen.get("aggregate_reblogs") is not False,
        "chosen_languages": languages or None,
    }


def _quotes(told: object) -> str:
    return told if isinstance(told, str) and told in ("followers", "nobody") else "public"


def _key(move: Move, batch: RowBatch, row: Row, id: AccountId | None) -> ActorKey | None:
    """What somebody signs with goes on, under its name: nobody elsewhere notices."""
    try:
        # That its numbers are primes was checked where it was made; to do so again takes a good part of a second.
        pem = text(row, "private_key").encode()
        key = load_pem_private_key(pem, password=None, unsafe_skip_rsa_key_validation=True)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPrivateKey):
        batch.leave(text(row, "username"), "it has no key that can be read: a new one is made", step="keys")
        return None
    written = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return ActorKey(
        id=batch.work.new_id(),
        account_id=id,
        public_key=write_pem(key.public_key()),
        private_key=batch.work.find(Sealer).seal(written, KEY_PLACE),
        previous_key=None,
        made_at=must_at(row, "created_at", move.started_at),
    )


async def take_server(move: Move, batch: RowBatch) -> None:
    """The server's own key, which has an account of its own there; a fresh one of ours gives way."""
    for row in batch.items:
        new = _key(move, batch, row, None)
        old = await keys.find(batch.work.db, None)
        if new is not None:
            await (keys.replace(batch.work.db, old, new) if old else keys.insert(batch.work.db, new))
            batch.taken += 1


async def take_remote(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        id, now = AccountId(row["id"]), move.started_at
        note = kept(text(row, "note"))
        domain = text(row, "domain").lower()
        account = new_account(
            id,
            username=text(row, "username"),
            domain=domain,
            uri=uri_in(row, "uri") or f"tag:{domain},{id}",
            url=web_address(row, "url") or None,
            now=now,
            **_told(row),
            note=note,
            note_html=note,
            fields=_fields(move, row),
            created_at=must_at(row, "created_at", now),
            fetched_at=_long_ago(now),
        )
        pictures = _picture(account, row, "avatar") | _picture(account, row, "header")
        batch.rows.add("social_accounts", **msgspec.structs.asdict(account) | pictures)
        batch.taken += 1
        _take_actor(batch, row, id, now)


def _picture(account: Account, row: Row, name: Literal["avatar", "header"]) -> dict[str, Any]:
    """Fetched when somebody looks."""
    url = text(row, f"{name}_remote_url")
    return columns(account, name, (url, "") if url.startswith(("http://", "https://")) else None)


def _long_ago(now: datetime) -> datetime:
    """It is fetched anew when somebody next has to do with them."""
    return datetime.fromtimestamp(0, now.tzinfo)


def _take_actor(batch: RowBatch, row: Row, id: int, now: datetime) -> None:
    inbox = web_address(row, "inbox_url")
    if inbox:
        batch.rows.add(
            "federation_actors",
            account_id=id,
            inbox=inbox,
            shared_inbox=web_address(row, "shared_inbox_url") or None,
            outbox=web_address(row, "outbox_url") or None,
            followers=web_address(row, "followers_url") or None,
            following=web_address(row, "following_url") or None,
            featured=web_address(row, "featured_collection_url") or None,
        )
    if row["public_key"]:
        try:
            pem = write_pem(read_pem(row["public_key"]))
        except SignatureRefused:
            batch.leave(text(row, "uri"), "its public key cannot be used: it is fetched anew", step="keys")
            return
        name = f"{text(row, 'uri')}#main-key"
        batch.rows.add("federation_actor_keys", id=name, account_id=id, public_key=pem, fetched_at=now)


async def take_moves(_move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.rows.change("social_accounts", row["id"], moved_to=row["moved_to_account_id"])
        batch.taken += 1


async def take_counts(_move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.rows.change(
            "social_accounts",
            row["account_id"],
            statuses_count=_count(row, "statuses_count"),
            followers_count=_count(row, "followers_count"),
            following_count=_count(row, "following_count"),
            last_status_at=at(row, "last_status_at"),
        )
        batch.taken += 1


def _count(row: Row, name: str) -> int:
    return min(max(row[name] or 0, 0), 2**31 - 1)
