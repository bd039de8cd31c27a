"""Changing one's profile: its words, its rows, its pictures, and how one posts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.social.accounts import pictures, profile_text, store
from kith.social.accounts.facts import AccountChanged
from kith.social.accounts.tables import Account
from kith.social.accounts.verification import VERIFY_LINKS, VerifyLinks, is_verifiable
from kith.social.ids import AccountId
from kith.social.text import counting
from kith.social.text.domains import domain_of
from kith.social.text.languages import complaint_about, is_language

LONGEST_NAME = 40
LONGEST_NOTE = 500
LONGEST_DESCRIPTION = 150
MOST_FIELDS = 4
LONGEST_FIELD = 255
MOST_DOMAINS = 100


class AccountChange(msgspec.Struct, kw_only=True):
    """What is None stays as it is."""

    display_name: str | None = None
    note: str | None = None
    avatar: IO[bytes] | None = None
    avatar_description: str | None = None
    header: IO[bytes] | None = None
    header_description: str | None = None
    locked: bool | None = None
    bot: bool | None = None
    discoverable: bool | None = None
    indexable: bool | None = None
    noindex: bool | None = None
    hide_collections: bool | None = None
    show_media: bool | None = None
    show_media_replies: bool | None = None
    show_featured: bool | None = None
    fields: list[tuple[str, str]] | None = None
    attribution_domains: list[str] | None = None
    privacy: str | None = None
    sensitive: bool | None = None
    language: str | None = None
    quote_policy: str | None = None
    expand_media: str | None = None
    expand_spoilers: bool | None = None
    autoplay_gifs: bool | None = None
    chosen_languages: list[str] | None = None


_PLAIN = (
    "avatar_description",
    "header_description",
    "locked",
    "discoverable",
    "indexable",
    "noindex",
    "hide_collections",
    "show_media",
    "show_media_replies",
    "show_featured",
)
_KEPT = (
    "privacy",
    "sensitive",
    "language",
    "quote_policy",
    "expand_media",
    "expand_spoilers",
    "autoplay_gifs",
    "chosen_languages",
)
_NONE_IF_EMPTY = ("language", "chosen_languages")
_CHOICES = {
    "privacy": ("public", "unlisted", "private"),
    "quote_policy": ("public", "followers", "nobody"),
    "expand_media": ("default", "show_all", "hide_all"),
}


async def update(work: Work, account: Account, change: AccountChange) -> Account:
    """All of it, or nothing. Pictures are made before the first write.

    Links that were sent are looked at, also where they say what they said: the page may link back by now.
    """
    ready = _checked(change)
    files: dict[pictures.Picture, IO[bytes] | None] = {"avatar": change.avatar, "header": change.header}
    async with pictures.shaped(work, account.id, files) as made:
        await work.db.hold(f"account:{account.id}")
        now = await _standing(work, account.id)
        changed = _plain(ready, now) | await _words(work, ready, now) | made
        changed = {name: value for name, value in changed.items() if getattr(now, name) != value}
        if changed:
            await store.change(work.db, now.id, changed, work.now)
            pictures.forget(work, now, changed)
            work.announce(AccountChanged(account_id=now.id))
        if ready.fields is not None and any(map(is_verifiable, changed.get("fields", now.fields))):
            work.enqueue(VERIFY_LINKS, VerifyLinks(account_id=now.id), key=str(now.id))
        await _keep(work, now.id, ready)
    return await _standing(work, account.id)


async def _standing(work: Work, account_id: AccountId) -> Account:
    found = await store.find(work.db, account_id)
    if found is None:
        raise NotFound
    return found


def _plain(change: AccountChange, now: Account) -> dict[str, Any]:
    values = {name: getattr(change, name) for name in _PLAIN if getattr(change, name) is not None}
    if change.display_name is not None:
        values["display_name"] = change.display_name
    if change.attribution_domains is not None:
        values["attribution_domains"] = change.attribution_domains
    if change.bot is not None and change.bot != (now.actor_type in ("Service", "Application")):
        values["actor_type"] = "Service" if change.bot else "Person"
    return values


async def _words(work: Work, change: AccountChange, now: Account) -> dict[str, Any]:
    """Note and rows are made into what is shown here, once."""
    texts = [change.note or "", *(value for _, value in change.fields or ())]
    people = await profile_text.people_in(work, texts) if any(texts) else {}
    values: dict[str, Any] = {}
    if change.note is not None:
        values |= {"note": change.note, "note_html": profile_text.show_note(work, change.note, people)}
    if change.fields is not None:
        values["fields"] = profile_text.show_fields(work, change.fields, now.fields, people)
    return values


async def _keep(work: Work, account_id: AccountId, change: AccountChange) -> None:
    values = {name: getattr(change, name) for name in _KEPT if getattr(change, name) is not None}
    if not values:
        return
    kept = await store.find_preferences(work.db, account_id)
    for name, value in values.items():
        setattr(kept, name, value or None if name in _NONE_IF_EMPTY else value)
    await store.save_preferences(work.db, kept)


# Pictures


async def drop_picture(work: Work, account: Account, name: pictures.Picture) -> Account:
    """Without one there is nothing to describe, either."""
    await work.db.hold(f"account:{account.id}")
    now = await _standing(work, account.id)
    if getattr(now, name):
        changed = {name: "", f"{name}_static": "", f"{name}_description": ""}
        await store.change(work.db, now.id, changed, work.now)
        pictures.forget(work, now, changed)
        work.announce(AccountChanged(account_id=now.id))
    return await _standing(work, account.id)


# Checks


def _checked(change: AccountChange) -> AccountChange:
    """As it will be kept; raises `Invalid` with every complaint at once."""
    bad: dict[str, list[str]] = {}
    ready = msgspec.structs.replace(change)
    if ready.display_name is not None:
        ready.display_name = " ".join(ready.display_name.split())
        _check_length(bad, "display_name", len(ready.display_name), LONGEST_NAME)
    if ready.note is not None:
        ready.note = ready.note.replace("\r\n", "\n").strip()
        _check_length(bad, "note", counting.length(ready.note), LONGEST_NOTE)
    for name in ("avatar_description", "header_description"):
        text = getattr(ready, name)
        if text is not None:
            setattr(ready, name, text.strip())
            _check_length(bad, name, len(text.strip()), LONGEST_DESCRIPTION)
    if ready.fields is not None:
        ready.fields = _checked_fields(bad, ready.fields)
    if ready.attribution_domains is not None:
        ready.attribution_domains = _checked_domains(bad, ready.attribution_domains)
    _check_kept(bad, ready)
    if bad:
        raise Invalid(fields=bad)
    return ready


def _check_length(bad: dict[str, list[str]], name: str, length: int, most: int) -> None:
    if length > most:
        bad[name] = [Complaint(f"is too long (maximum is {most} characters)", "too_long")]


def _checked_fields(bad: dict[str, list[str]], rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """A row without a name and a value is none."""
    kept = [(name.strip(), value.strip()) for name, value in rows if name.strip() or value.strip()]
    if len(kept) > MOST_FIELDS:
        bad["fields"] = [Complaint(f"has too many rows (maximum is {MOST_FIELDS})", "too_many")]
    elif any(not name for name, _ in kept):
        bad["fields"] = [Complaint("contains values without a label", "blank")]
    elif any(len(part) > LONGEST_FIELD for row in kept for part in row):
        bad["fields"] = [Complaint(f"is too long (maximum is {LONGEST_FIELD} characters)", "too_long")]
    return kept


def _checked_domains(bad: dict[str, list[str]], given: Sequence[str]) -> list[str]:
    """Typed as a list, or as lines of one text."""
    names = [name.strip().removeprefix("*.") for text in given for name in text.splitlines() if name.strip()]
    domains = [domain_of(name) for name in names]
    if len(names) > MOST_DOMAINS:
        bad["attribution_domains"] = [Complaint(f"has too many entries (maximum is {MOST_DOMAINS})", "too_many")]
    elif None in domains:
        bad["attribution_domains"] = [Complaint("is not a valid domain name")]
    return list(dict.fromkeys(domain for domain in domains if domain is not None))


def _check_kept(bad: dict[str, list[str]], ready: AccountChange) -> None:
    for name, choices in _CHOICES.items():
        value = getattr(ready, name)
        if value is not None and value not in choices:
            bad[name] = [Complaint("is not included in the list", "inclusion")]
    if ready.language and not is_language(ready.language):
        bad["language"] = [Complaint("is not a language we know", "inclusion")]
    if ready.chosen_languages is not None:
        ready.chosen_languages = list(dict.fromkeys(code.strip() for code in ready.chosen_languages if code.strip()))
        complaint = complaint_about(ready.chosen_languages)
        if complaint is not None:
            bad["chosen_languages"] = [complaint]
