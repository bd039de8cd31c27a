"""How somebody reads: in which language and time zone, and what is open or moves by itself."""

from __future__ import annotations

import msgspec

from kith.base.caches import UntilWritten
from kith.base.exchange import Exchange
from kith.social.accounts.store import find_preferences
from kith.social.accounts.tables import Preferences
from kith.web.client.frame import PageMember
from kith.web.page_language import language_of
from kith.web.time_zones import zone_of

__all__ = ["PageReader", "preferences_of", "reader_of"]


class PageReader(msgspec.Struct, frozen=True):
    """`media` as in the preferences: `default`, `show_all` or `hide_all`. `context` is where filters apply."""

    language: str = "en"
    zone: str = ""
    media: str = "default"
    opens_warnings: bool = False
    plays: bool = False
    context: str = ""


async def preferences_of(exchange: Exchange, member: PageMember) -> Preferences:
    kept, key = exchange.find(UntilWritten), ("preferences", member.account.id)
    version = kept.now()
    found: Preferences | None = kept.get(version, key)
    if found is None:
        found = await find_preferences(exchange.work.db, member.account.id)
        kept.put(version, key, found)
    return found


async def reader_of(exchange: Exchange, member: PageMember | None, context: str = "") -> PageReader:
    language, zone = language_of(exchange), zone_of(exchange)
    if member is None:
        return PageReader(language, zone)
    kept = await preferences_of(exchange, member)
    return PageReader(language, zone, kept.expand_media, kept.expand_spoilers, kept.autoplay_gifs, context)
