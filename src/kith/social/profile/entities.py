"""One's own account on the wire, with what only its owner sees."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.work import Work
from kith.social.accounts import entities as accounts
from kith.social.accounts import store
from kith.social.accounts.tables import Account, Preferences
from kith.social.relationships import store as relationships
from kith.social.tags import store as tags
from kith.social.tags.entities import render_featured

_encode = msgspec.json.Encoder().encode


async def render_own(work: Work, account: Account) -> bytes:
    """CredentialAccount."""
    kept = await store.find_preferences(work.db, account.id)
    requests = await relationships.count_requests(work.db, account.id)
    return await accounts.render_own(work, account, kept, requests=requests)


async def render_profile(work: Work, account: Account) -> bytes:
    features = await tags.features_of(work.db, account.id)
    told = [render_featured(work.settings, account, feature) for feature in features]
    return _encode(await accounts.render_profile(work, account, told))


def render_preferences(account: Account, kept: Preferences) -> dict[str, Any]:
    return {
        "posting:default:visibility": kept.privacy or ("private" if account.locked else "public"),
        "posting:default:sensitive": kept.sensitive,
        "posting:default:language": kept.language,
        "posting:default:quote_policy": kept.quote_policy,
        "reading:expand:media": kept.expand_media,
        "reading:expand:spoilers": kept.expand_spoilers,
        "reading:autoplay:gifs": kept.autoplay_gifs,
        "reading:languages": kept.chosen_languages,
    }
