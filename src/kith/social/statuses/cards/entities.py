from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from kith.base.settings import Settings
from kith.base.work import Work
from kith.social.accounts import entities as account_entities
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.addresses import file_url
from kith.social.statuses.cards import store


async def render_cards(work: Work, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Each as a PreviewCard, by id. Whom a page names as its author is shown if they name its site, too."""
    found = await store.find_shown(work.db, ids)
    people = await accounts.find_all(work.db, [creator for _, _, creator in found if creator is not None])
    credited = {
        id: people[creator]
        for id, data, creator in found
        if creator is not None and creator in people and _has_written(people[creator], data["url"])
    }
    shown = dict(zip(credited, await account_entities.render(work, list(credited.values())), strict=True))
    return {id: _shape(work.settings, data, shown.get(id)) for id, data, _ in found}


def _has_written(account: Account, url: str) -> bool:
    """Whether somebody says that pages of this site, or of one below it, may be theirs."""
    labels = (urlsplit(url).hostname or "").split(".")
    names = {".".join(labels[place:]) for place in range(len(labels))}
    return account.is_listed and not account.is_gone and not names.isdisjoint(account.attribution_domains)


def _shape(settings: Settings, data: Mapping[str, Any], credited: bytes | None) -> dict[str, Any]:
    """As it is kept, with the address of its picture, and with whoever is credited."""
    shape = {**data, "image": file_url(settings, data["image"]) if data["image"] else None}
    if credited is not None:
        author = {"name": data["author_name"], "url": data["author_url"], "account": msgspec.Raw(credited)}
        shape["authors"] = [author]
    return shape
