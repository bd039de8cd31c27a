"""What an archive says of posts: an outbox as Mastodon writes it, or statuses as the client API gives them.

GoToSocial itself writes no posts into its exports; tools that keep posts of an account there write what its API says.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

import msgspec

from kith.base.errors import Invalid
from kith.cli.imports.archive.files import OpenedArchive, read_json
from kith.social.statuses.tables import DIRECT, PRIVATE, PUBLIC, UNLISTED, VISIBILITIES

__all__ = ["ArchivedFile", "ArchivedNote", "UnfitForImport", "bookmarks_in", "notes_in"]

PUBLIC_NAMES = frozenset({"https://www.w3.org/ns/activitystreams#Public", "as:Public", "Public"})
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LONGEST_URI = 2000
LONGEST_OPTION = 2000
MOST_FILES, MOST_OPTIONS, MOST_TAGS = 16, 20, 100


class UnfitForImport(ValueError):  # noqa: N818 - it says what is wrong
    """Something that is not taken, and why."""


class ArchivedFile(msgspec.Struct):
    path: str
    description: str | None


class ArchivedNote(msgspec.Struct, eq=False):
    uri: str
    url: str | None
    published: datetime
    visibility: int
    html: str
    warning: str
    is_sensitive: bool
    language: str | None
    parent: str | None
    tags: list[str]
    files: list[ArchivedFile]
    number: str | None = None  # by which others of the same archive may name it
    options: list[str] = []
    tallies: list[int] = []
    multiple: bool = False
    ended_at: datetime | None = None

    @property
    def domain(self) -> str:
        return urlsplit(self.uri).hostname or "another server"


class _Collection(msgspec.Struct, rename={"items": "orderedItems"}):
    items: list[msgspec.Raw] = []


def notes_in(archive: OpenedArchive) -> tuple[list[ArchivedNote], list[tuple[str, str]]]:
    """Oldest first, and what was not taken, by its name."""
    outbox, statuses = _named(archive, "outbox.json"), _named(archive, "statuses.json")
    if outbox is None and statuses is None:
        raise Invalid(
            "this archive holds no posts: Mastodon's have an outbox.json, and of GoToSocial's a statuses.json is taken"
        )
    raws = _items(archive, outbox) if outbox is not None else _list(archive, statuses or "")
    notes: list[ArchivedNote] = []
    left: list[tuple[str, str]] = []
    for number, raw in enumerate(raws):
        try:
            found: Any = msgspec.json.decode(raw)
            notes.append(_activity(found) if outbox is not None else _status(found))
        except UnfitForImport as unfit:
            name = found.get("id") if isinstance(found, dict) else None
            left.append((str(name or number), str(unfit)))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Invalid(f"{outbox or statuses} cannot be read, it must be UTF-8 text: {error}") from error
    return _in_order(notes), left


def _in_order(notes: list[ArchivedNote]) -> list[ArchivedNote]:
    """Oldest first; of those of the same moment, what is answered before its answers."""
    ordered: list[ArchivedNote] = []
    for _, same in groupby(sorted(notes, key=lambda one: one.published), lambda one: one.published):
        waiting = list(same)
        names = {name for one in waiting for name in (one.uri, one.number) if name is not None}
        answers: dict[str | None, list[ArchivedNote]] = {}
        for one in waiting:
            answers.setdefault(one.parent if one.parent in names else None, []).append(one)
        line = answers.pop(None, [])
        for one in line:  # grows while it is walked
            line += answers.pop(one.uri, [])
            line += answers.pop(one.number, []) if one.number is not None else []
        ordered += line + [one for rest in answers.values() for one in rest]
    return ordered


def bookmarks_in(archive: OpenedArchive) -> list[str]:
    name = _named(archive, "bookmarks.json")
    if name is None:
        return []
    try:
        found = [msgspec.json.decode(raw) for raw in _items(archive, name)]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid(f"{name} cannot be read, it must be UTF-8 text: {error}") from error
    return [one for one in found if isinstance(one, str) and len(one) <= LONGEST_URI]


def _named(archive: OpenedArchive, wanted: str) -> str | None:
    """Also below a folder."""
    found = [name for name in archive.names() if name == wanted or name.endswith(f"/{wanted}")]
    return min(found, key=len) if found else None


def _items(archive: OpenedArchive, name: str) -> list[msgspec.Raw]:
    try:
        return msgspec.json.decode(read_json(archive, name), type=_Collection).items
    except msgspec.MsgspecError as error:
        raise Invalid(f"{name} cannot be read: {error}") from error


def _list(archive: OpenedArchive, name: str) -> list[msgspec.Raw]:
    try:
        return msgspec.json.decode(read_json(archive, name), type=list[msgspec.Raw])
    except msgspec.MsgspecError as error:
        raise Invalid(f"{name} cannot be read: {error}") from error


def _activity(found: Any) -> ArchivedNote:
    if not isinstance(found, dict):
        raise UnfitForImport("it is no activity")
    if found.get("type") == "Announce":
        raise UnfitForImport("boosts of other people's posts are not taken")
    note = found.get("object")
    if found.get("type") != "Create" or not isinstance(note, dict):
        raise UnfitForImport("it is no post")
    if note.get("type") not in ("Note", "Question", "Article"):
        raise UnfitForImport("it is a post of a kind that is not known here")
    if note.get("attributedTo") not in (None, found.get("actor")):
        raise UnfitForImport("somebody else wrote it")
    html = note.get("content")
    made = ArchivedNote(
        uri=_uri(note.get("id")),
        url=_link(note.get("url")),
        published=_moment(note.get("published")),
        visibility=_audience(note),
        html=html if isinstance(html, str) else "",
        warning=_words(note.get("summary")),
        is_sensitive=note.get("sensitive") is True,
        language=_language(note),
        parent=_parent(note.get("inReplyTo")),
        tags=[
            str(tag.get("name") or "").removeprefix("#")
            for tag in _dicts(note.get("tag"), MOST_TAGS)
            if tag.get("type") == "Hashtag"
        ],
        files=[
            ArchivedFile(one["url"], _words(one.get("name")) or None)
            for one in _dicts(note.get("attachment"), MOST_FILES)
            if isinstance(one.get("url"), str)
        ],
    )
    _add_poll(made, note)
    return made


def _add_poll(made: ArchivedNote, note: Mapping[str, Any]) -> None:
    for name, multiple in (("oneOf", False), ("anyOf", True)):
        options = _dicts(note.get(name), MOST_OPTIONS)
        if options:
            made.options = [_words(one.get("name"))[:LONGEST_OPTION] for one in options]
            replies = [one.get("replies") for one in options]
            counts = [one.get("totalItems") if isinstance(one, dict) else 0 for one in replies]
            made.tallies = [one if isinstance(one, int) and 0 <= one < 1 << 31 else 0 for one in counts]
            made.multiple = multiple
            end = note.get("closed") or note.get("endTime")
            made.ended_at = _moment(end) if isinstance(end, str) else made.published


def _status(found: Any) -> ArchivedNote:
    """One as the client API shows it."""
    if not isinstance(found, dict):
        raise UnfitForImport("it is no post")
    if found.get("reblog"):
        raise UnfitForImport("boosts of other people's posts are not taken")
    named = found.get("visibility")
    poll: Any = found.get("poll")
    made = ArchivedNote(
        uri=_uri(found.get("uri")),
        url=_link(found.get("url")),
        published=_moment(found.get("created_at")),
        visibility=VISIBILITIES.index(named) if named in VISIBILITIES[:4] else DIRECT,
        html=found["content"] if isinstance(found.get("content"), str) else "",
        warning=_words(found.get("spoiler_text")),
        is_sensitive=found.get("sensitive") is True,
        language=_words(found.get("language"))[:35] or None,
        parent=f"#{found['in_reply_to_id']}" if isinstance(found.get("in_reply_to_id"), str) else None,
        tags=[_words(tag.get("name")) for tag in _dicts(found.get("tags"), MOST_TAGS)],
        files=[
            ArchivedFile(one["url"], _words(one.get("description")) or None)
            for one in _dicts(found.get("media_attachments"), MOST_FILES)
            if isinstance(one.get("url"), str)
        ],
        number=f"#{found['id']}" if isinstance(found.get("id"), str) else None,
    )
    if isinstance(poll, dict):
        options = _dicts(poll.get("options"), MOST_OPTIONS)
        made.options = [_words(one.get("title"))[:LONGEST_OPTION] for one in options]
        counts = [one.get("votes_count") for one in options]
        made.tallies = [one if isinstance(one, int) and 0 <= one < 1 << 31 else 0 for one in counts]
        made.multiple, made.ended_at = poll.get("multiple") is True, made.published
    return made


def _uri(value: object) -> str:
    if not isinstance(value, str) or not value.startswith(("http://", "https://")) or len(value) > LONGEST_URI:
        raise UnfitForImport("it has no address by which it would be known again")
    try:
        urlsplit(value)
    except ValueError:
        raise UnfitForImport("it has no address by which it would be known again") from None
    return value.replace("\0", "")


def _link(value: object) -> str | None:
    is_fit = isinstance(value, str) and value.startswith(("http://", "https://")) and len(value) <= LONGEST_URI
    return str(value).replace("\0", "") if is_fit else None


def _parent(value: object) -> str | None:
    return value if isinstance(value, str) and len(value) <= LONGEST_URI else None


def _moment(value: object) -> datetime:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        found = None
    if found is None:
        raise UnfitForImport("it does not say when it was written")
    try:
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        found = datetime.max.replace(tzinfo=UTC)
    if not EARLIEST <= found <= datetime.now(UTC):
        raise UnfitForImport("it was written at a time that cannot be")
    return found


def _audience(note: Mapping[str, Any]) -> int:
    to, cc = (_strings(note.get(name)) for name in ("to", "cc"))
    if to & PUBLIC_NAMES:
        return PUBLIC
    if cc & PUBLIC_NAMES:
        return UNLISTED
    return PRIVATE if any(one.rstrip("/").endswith("/followers") for one in to | cc) else DIRECT


def _language(note: Mapping[str, Any]) -> str | None:
    found = note.get("contentMap")
    return next(iter(found), "")[:35] or None if isinstance(found, dict) else None


def _strings(value: object) -> set[str]:
    given = value if isinstance(value, list) else [value]
    return {one for one in given if isinstance(one, str)}


def _dicts(value: object, most: int) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)][:most] if isinstance(value, list) else []


def _words(value: object) -> str:
    return value.replace("\0", "") if isinstance(value, str) else ""
