from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.work import Work
from kith.social.addresses import tag_url
from kith.social.collections import service, store
from kith.social.collections.tables import AccountCollection, CollectionItem
from kith.social.ids import AccountId
from kith.social.moments import moment
from kith.social.text.parts import normal_tag


def render_item(one: CollectionItem) -> dict[str, Any]:
    return {
        "id": str(one.id),
        "state": one.state,
        "account_id": str(one.account_id),
        "created_at": moment(one.created_at),
    }


async def render_collections(
    work: Work, found: Sequence[AccountCollection], me: AccountId | None
) -> list[dict[str, Any]]:
    """With those of their members whom the viewer may see, in one query for all."""
    items = await store.items_of(work.db, [one.id for one in found], me, work.now)
    return [_render(work, one, [item for item in items if item.collection_id == one.id]) for one in found]


def _render(work: Work, one: AccountCollection, items: Sequence[CollectionItem]) -> dict[str, Any]:
    settings, name = work.settings, one.tag_name
    address = f"{settings.base_url}/collections/{one.id}"
    return {
        "id": str(one.id),
        "uri": address,
        "url": None,  # there is no page of it
        "account_id": str(one.account_id),
        "name": one.name,
        "description": one.description,
        "language": one.language,
        "local": True,
        "sensitive": one.sensitive,
        "discoverable": one.discoverable,
        "tag": None if name is None else {"name": name, "url": tag_url(settings, normal_tag(name))},
        "item_count": len(items),
        "items": [render_item(item) for item in items],
        "created_at": moment(one.created_at),
        "updated_at": moment(one.updated_at),
    }


class ToldCollections:
    """What notifications about collections are about, as everybody may see them."""

    async def render(self, work: Work, _type: str, ids: Sequence[int], _me: AccountId) -> Mapping[int, bytes]:
        found = await store.by_ids(work.db, ids)
        shown = await render_collections(work, found, None)
        return {one.id: msgspec.json.encode(shape) for one, shape in zip(found, shown, strict=True)}


async def find_by_address(work: Work, viewer: AccountId | None, text: str) -> list[dict[str, Any]]:
    """The collection whose address a text is, if the viewer may see it; names are not looked through."""
    head, _, id = text.strip().rpartition("/")
    if head != f"{work.settings.base_url}/collections" or not (id.isascii() and id.isdigit() and len(id) < 19):
        return []
    try:
        return await render_collections(work, [await service.find(work, viewer, int(id))], viewer)
    except NotFound:
        return []
