"""Accounts on the wire. What is shown of one is made once per version and kept; the counts are put in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from kith.base.breath import Breath
from kith.base.caches import ByVersion
from kith.base.json_templates import Template, together
from kith.base.work import Work
from kith.social.accounts import store
from kith.social.accounts.shapes import (
    AccountEntity,
    MutedPart,
    account_entity,
    counts_of,
    own_part,
    raw_field,
    set_counts,
    shown_field,
    texts_of,
)
from kith.social.accounts.tables import Account, Preferences
from kith.social.addresses import file_url
from kith.social.emojis import service as emojis
from kith.social.ids import AccountId
from kith.social.moments import maybe
from kith.social.roles import store as role_store
from kith.social.roles.entities import badges, render_role
from kith.social.versions import without_counts

MOST_BYTES = 8 << 20


class AccountVersion(Protocol):
    """A row of any list of accounts (`accounts.lines`)."""

    @property
    def id(self) -> AccountId: ...
    @property
    def version(self) -> int: ...


class AccountPieces(ByVersion[Template]):
    """Accounts as they are shown, by id and version, without their counts."""

    def __init__(self) -> None:
        super().__init__("account_pieces", MOST_BYTES)


class WholeAccounts(ByVersion[bytes]):
    """Accounts as they are shown, by id and version."""

    def __init__(self) -> None:
        super().__init__("whole_accounts", MOST_BYTES)


async def render(work: Work, accounts: Sequence[Account]) -> list[bytes]:
    """Each as JSON, in the order they came."""
    shown = await render_versions(work, {account.id: account.version for account in accounts}, known=accounts)
    return [shown[account.id] for account in accounts]


async def render_lines(work: Work, rows: Sequence[AccountVersion]) -> list[bytes]:
    """Each as JSON, in the order they came."""
    shown = await render_versions(work, {row.id: row.version for row in rows})
    return [shown[row.id] for row in rows]


async def render_versions(
    work: Work, versions: Mapping[AccountId, int], *, known: Sequence[Account] = ()
) -> dict[AccountId, bytes]:
    """What is shown of each of them at that version; what is not at hand is read, in one query."""
    kept = work.find(WholeAccounts)
    found: dict[AccountId, bytes] = {}
    missing: list[AccountId] = []
    for id, version in versions.items():
        whole = kept.get((id, version))
        if whole is None:
            missing.append(id)
        else:
            found[id] = whole
    if missing:
        rows = {account.id: account for account in known}
        found |= await _count_again(work, {id: versions[id] for id in missing if id not in rows})
        missing = [id for id in missing if id not in found]
        rows |= await store.find_all(work.db, [id for id in missing if id not in rows])
        found |= await _make(work, [rows[id] for id in missing if id in rows])
    return found


async def _count_again(work: Work, versions: Mapping[AccountId, int]) -> dict[AccountId, bytes]:
    """Those of which all but the counts is at hand, which are most: only their counts are read."""
    pieces, kept = work.find(AccountPieces), work.find(WholeAccounts)
    templates: dict[AccountId, Template] = {}
    for id, version in versions.items():
        template = pieces.get((id, without_counts(version)))
        if template is not None:
            templates[id] = template
    made: dict[AccountId, bytes] = {}
    for row in await store.find_counts(work.db, list(templates)):
        if without_counts(row.version) == without_counts(versions[row.id]):
            made[row.id] = whole = templates[row.id].fill(counts_of(row)).whole()
            if not work.db.is_writing:
                kept.put((row.id, row.version), whole, len(whole))
    return made


def is_kept(work: Work, id: AccountId, version: int) -> bool:
    """Whether what was made of it holds as long as its version does."""
    return work.find(WholeAccounts).get((id, version)) is not None


async def _make(work: Work, rows: Sequence[Account]) -> dict[AccountId, bytes]:
    """Nothing is kept of what may yet be rolled back: the version would come again, with something else behind it.

    Where somebody has moved to is shown as it is now, so such an account is made anew each time.
    """
    templates = await _templates(work, [row for row in rows if row.moved_to is None])
    moved = await _moved(work, [row for row in rows if row.moved_to is not None])
    made: dict[AccountId, bytes] = {}
    breath = Breath()
    for row in rows:
        await breath.take()
        template = templates.get(row.id) or moved[row.id]
        made[row.id] = whole = template.fill(counts_of(row)).whole()
        if row.id in templates and not work.db.is_writing:
            work.find(WholeAccounts).put((row.id, row.version), whole, len(whole))
    return made


async def _templates(work: Work, rows: Sequence[Account]) -> dict[AccountId, Template]:
    pieces = work.find(AccountPieces)
    found = {row.id: piece for row in rows if (piece := pieces.get((row.id, without_counts(row.version)))) is not None}
    missing = [row for row in rows if row.id not in found]
    breath = Breath()
    for row, shape in zip(missing, await _shapes(work, missing), strict=True):
        await breath.take()
        found[row.id] = template = Template.of(shape)
        if not work.db.is_writing:
            pieces.put((row.id, without_counts(row.version)), template, template.size)
    return found


async def _moved(work: Work, rows: Sequence[Account]) -> dict[AccountId, Template]:
    if not rows:
        return {}
    targets = list((await store.find_all(work.db, [row.moved_to for row in rows if row.moved_to is not None])).values())
    shapes = await _shapes(work, [*rows, *targets])
    where = {row.id: set_counts(shape, row) for row, shape in zip(targets, shapes[len(rows) :], strict=True)}
    for row, shape in zip(rows, shapes, strict=False):
        if row.moved_to in where:
            shape.moved = where[row.moved_to]
    return {row.id: Template.of(shape) for row, shape in zip(rows, shapes, strict=False)}


async def _shapes(work: Work, rows: Sequence[Account]) -> list[AccountEntity]:
    told = await emojis.used_in_each(work, [(texts_of(row), row.domain) for row in rows], emojis.MOST_OF_PROFILE)
    shown = await _badges(work, rows)
    shapes: list[AccountEntity] = []
    breath = Breath()
    for row, used in zip(rows, told, strict=True):
        await breath.take()
        shapes.append(account_entity(work.settings, row, used, shown.get(row.id, [])))
    return shapes


async def _badges(work: Work, rows: Iterable[Account]) -> dict[AccountId, list[dict[str, str]]]:
    """Most people have no role that could be shown."""
    with_role = [row for row in rows if row.is_local and not row.is_gone and (row.role_id or row.role != "user")]
    if not with_role:
        return {}
    roles = await role_store.load(work.db)
    return {row.id: badges(roles, row.role, row.role_id) for row in with_role}


async def render_own(work: Work, account: Account, kept: Preferences, *, requests: int) -> bytes:
    """CredentialAccount: one's own, with what can be edited."""
    [whole] = await render(work, [account])
    return together(whole, own_part(account, kept, await role_of(work, account), requests=requests))


def render_muted(whole: bytes, until: datetime | str | None) -> bytes:
    """MutedAccount; `until` as a row or a row for the wire has it."""
    return together(whole, MutedPart(f"{until[:23]}Z" if isinstance(until, str) else maybe(until)))


async def role_of(work: Work, account: Account) -> dict[str, Any]:
    return render_role((await role_store.load(work.db)).of(account.role, account.role_id))


async def render_profile(work: Work, account: Account, featured_tags: list[dict[str, Any]]) -> dict[str, Any]:
    """Profile: the editing view of one's own account."""
    settings = work.settings
    return {
        "id": str(account.id),
        "display_name": account.display_name,
        "note": account.note,
        "formatted_note": account.note_html,
        "fields": [raw_field(field) for field in account.fields],
        "formatted_fields": [shown_field(field) for field in account.fields],
        "avatar": file_url(settings, account.avatar) if account.avatar else None,
        "avatar_static": file_url(settings, account.avatar_static) if account.avatar_static else None,
        "avatar_description": account.avatar_description,
        "header": file_url(settings, account.header) if account.header else None,
        "header_static": file_url(settings, account.header_static) if account.header_static else None,
        "header_description": account.header_description,
        "locked": account.locked,
        "bot": account.actor_type in ("Service", "Application"),
        "hide_collections": account.hide_collections,
        "discoverable": account.discoverable,
        "indexable": account.indexable,
        "show_media": account.show_media,
        "show_media_replies": account.show_media_replies,
        "show_featured": account.show_featured,
        "attribution_domains": account.attribution_domains,
        "featured_tags": featured_tags,
    }
