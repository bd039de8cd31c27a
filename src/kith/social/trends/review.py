"""What the team decides about trends. Each act leaves an event in the audit trail."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId, StatusId
from kith.social.staff import Staff, record
from kith.social.statuses import store as statuses
from kith.social.statuses.cards import store as cards
from kith.social.statuses.tables import PUBLIC, Status
from kith.social.tags import store as tags
from kith.social.tags.tables import Tag
from kith.social.text.parts import is_tag, normal_tag
from kith.social.trends import review_store, store
from kith.social.trends.tables import LinkPublisher, TrendAuthor, TrendSettings

PERMISSION = "manage_taxonomies"


class TagChanges(msgspec.Struct, kw_only=True):
    """What is left out stays as it was."""

    display_name: str | None = None
    trendable: bool | None = None
    usable: bool | None = None
    listable: bool | None = None


def _verb(trendable: bool) -> str:
    return "approve" if trendable else "reject"


# Tags


async def find_tag(work: Work, id: int) -> Tag:
    found = (await tags.find_all(work.db, [id])).get(id)
    if found is None:
        raise NotFound
    return found


async def change_tag(work: Work, by: Staff, id: int, changes: TagChanges) -> Tag:
    by.check(PERMISSION)
    before = await find_tag(work, id)
    values: dict[str, Any] = {
        name: value for name in ("trendable", "usable", "listable") if (value := getattr(changes, name)) is not None
    }
    if changes.display_name is not None:
        values["display"] = _spelled(before, changes.display_name)
    changed = msgspec.structs.replace(before, **values, reviewed_at=work.now)
    await tags.review(work.db, changed, work.now)
    await record(work, by, "update_tag", tag=_told(changed), **values)
    return changed


def _spelled(tag: Tag, given: str) -> str:
    """Written otherwise, but the same tag."""
    name = given.strip().removeprefix("#")
    if not is_tag(name) or normal_tag(name) != tag.name:
        raise Invalid(fields={"display_name": [Complaint("does not match the previous name")]})
    return name


async def review_tag(work: Work, by: Staff, id: int, *, trendable: bool) -> Tag:
    by.check(PERMISSION)
    tag = msgspec.structs.replace(await find_tag(work, id), trendable=trendable, reviewed_at=work.now)
    await tags.review(work.db, tag, work.now)
    await record(work, by, f"{_verb(trendable)}_trending_tag", tag=_told(tag))
    return tag


def _told(tag: Tag) -> dict[str, str]:
    return {"id": str(tag.id), "name": tag.name}


# Links and sites


async def review_link(work: Work, by: Staff, card_id: int, *, trendable: bool) -> int:
    by.check(PERMISSION)
    found = await cards.find_shown(work.db, [card_id])
    if not found:
        raise NotFound
    await review_store.review_link(work.db, card_id, trendable=trendable)
    link = {"id": str(card_id), "url": found[0][1]["url"]}
    await record(work, by, f"{_verb(trendable)}_trending_link", link=link)
    return card_id


async def review_publisher(work: Work, by: Staff, id: int, *, trendable: bool) -> LinkPublisher:
    by.check(PERMISSION)
    found = await review_store.find_publisher(work.db, id)
    if found is None:
        raise NotFound
    await review_store.review_publisher(work.db, id, work.now, trendable=trendable)
    publisher = {"id": str(id), "domain": found.domain}
    await record(work, by, f"{_verb(trendable)}_trending_publisher", publisher=publisher)
    return msgspec.structs.replace(found, trendable=trendable, reviewed_at=work.now)


# Posts and authors


async def review_status(work: Work, by: Staff, status_id: StatusId, *, trendable: bool) -> Status:
    """Only of what everybody may see, so that nothing else is shown to the team by this."""
    by.check(PERMISSION)
    found = await statuses.find_visible(work.db, status_id, None)
    if found is None or found.visibility != PUBLIC or found.reblog_of_id is not None:
        raise NotFound
    await review_store.review_status(work.db, status_id, trendable=trendable)
    author = await accounts.find(work.db, found.account_id)
    await record(
        work, by, f"{_verb(trendable)}_trending_status", author, status={"id": str(found.id), "uri": found.uri}
    )
    return found


async def review_author(work: Work, by: Staff, account_id: AccountId, *, trendable: bool) -> TrendAuthor:
    by.check(PERMISSION)
    account = await accounts.find(work.db, account_id)
    if account is None or not account.is_listed or account.is_gone:
        raise NotFound
    await review_store.review_author(work.db, account_id, work.now, trendable=trendable)
    await record(work, by, f"{_verb(trendable)}_trending_account", account)
    return await review_store.find_author(work.db, account_id) or TrendAuthor(account_id)


# The switches


async def change_settings(work: Work, by: Staff, *, enabled: bool | None, by_default: bool | None) -> TrendSettings:
    """Whether there are trends at all, and whether what nobody has reviewed is among them."""
    by.check("manage_settings")
    now = await store.settings(work.db)
    changed = TrendSettings(
        enabled=now.enabled if enabled is None else enabled,
        trendable_by_default=now.trendable_by_default if by_default is None else by_default,
    )
    if changed != now:
        await store.change_settings(work.db, changed, work.now)
        await record(work, by, "update_settings", **msgspec.structs.asdict(changed))
    return changed
