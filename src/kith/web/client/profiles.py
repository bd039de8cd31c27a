"""/@name: somebody's page, by tabs. Strangers see what is for everybody; members what is for them.

Programs that ask for ActivityStreams at the same address get that.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from kith.base.errors import Forbidden, Gone, NotFound
from kith.base.exchange import Answer, Exchange, Headers
from kith.base.paging import Cursor
from kith.base.routing import FromPath, Route, get
from kith.base.settings import Settings
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.entities import render
from kith.social.accounts.tables import Account
from kith.social.addresses import profile_url
from kith.social.ids import AccountId
from kith.social.representations import NEGOTIATED, Representations, wants_activity, without_ending
from kith.social.statuses import entities, pages
from kith.social.tags import store as tags
from kith.social.text.parts import normal_tag
from kith.social.timelines import reading
from kith.web import own_api
from kith.web.client.frame import PageMember, check_open_to_strangers, client_page, find_member
from kith.web.client.previews import person_data, preview_of_person
from kith.web.client.readers import PageReader, reader_of
from kith.web.client.status_html import piece, pieces
from kith.web.client.syndication import feed_of_person, split_ending
from kith.web.pages import see_other
from kith.web.shown_posts import emphasised, written
from kith.web.translation import translatable, translator

__all__ = ["find_person", "links_of", "looking", "routes"]

POSTS = 20
MOST_PINS = 5
LONGEST_NAME = 320
MUTE_DURATIONS = (
    (0, translatable("Until I unmute them")),
    (3600, translatable("1 hour")),
    (86400, translatable("1 day")),
    (604800, translatable("1 week")),
    (2592000, translatable("30 days")),
)
NOBODY = translatable("There is nobody of this name here.")
ACCOUNT_SUSPENDED = translatable("The moderators have suspended this account. Its posts are not shown.")
ACCOUNT_GONE = translatable("This account has been deleted, and so have its posts.")


class Tab(msgspec.Struct, frozen=True):
    """A part of a profile: where it is, and which posts it has. `tag` is the hashtag that all of them have."""

    path: str
    words: str
    tag: str = ""
    no_replies: bool = False
    no_boosts: bool = False
    only_media: bool = False


TABS = (
    Tab("", translatable("Posts"), no_replies=True),
    Tab("/with_replies", translatable("Posts and replies")),
    Tab("/media", translatable("Media"), only_media=True, no_boosts=True),
    Tab("/featured", translatable("Featured")),
)


@get("/@{name}", guards=[without_ending])
async def show_profile(exchange: Exchange, work: Work, name: FromPath[str]) -> Answer:
    """At `/@name.rss` and `/@name.atom`, what they post as a feed."""
    plain_name, ending = split_ending(name)
    if ending:
        return await feed_of_person(exchange, await find_person(work, plain_name, None), ending)
    if wants_activity(exchange):
        return await exchange.find(Representations).person(exchange, name)  # type: ignore[type-abstract]
    member = await looking(exchange)
    account = await find_person(work, name, member)
    if account.domain == "" and account.username != name:
        return see_other(profile_url(work.settings, account.username), status=301, headers=(NEGOTIATED,))
    return await _tab(exchange, account, member, TABS[0])


def _shows(tab: Tab) -> Route:
    @get(f"/@{{name}}{tab.path}")
    async def show_tab(exchange: Exchange, work: Work, name: FromPath[str]) -> Answer:
        member = await looking(exchange)
        return await _tab(exchange, await find_person(work, name, member), member, tab)

    return show_tab


@get("/@{name}/tagged/{tag}")
async def show_tagged(exchange: Exchange, work: Work, name: FromPath[str], tag: FromPath[str]) -> Answer:
    """Where featured hashtags lead: what somebody posted with one."""
    member = await looking(exchange)
    account = await find_person(work, name, member)
    return await _tab(exchange, account, member, Tab(f"/tagged/{quote(tag, safe='')}", f"#{tag}", tag, no_boosts=True))


async def _tag_id(work: Work, tag: str) -> int | None:
    found = (await tags.find_named(work.db, [normal_tag(tag)])).get(normal_tag(tag))
    return None if found is None else found.id


async def _tab(exchange: Exchange, account: Account, member: PageMember | None, tab: Tab) -> Answer:
    work, me = exchange.work, member.account.id if member is not None else None
    reader = await reader_of(exchange, member, "account")
    cursor = Cursor.read(exchange.query_string, default=POSTS, most=POSTS)
    is_featured = tab is TABS[3]
    found = None
    tag_id = await _tag_id(work, tab.tag) if tab.tag else None
    if not is_featured and (tag_id is not None or not tab.tag):
        found = await reading.of_account(
            work, me, account.id, cursor,
            no_replies=tab.no_replies, no_boosts=tab.no_boosts, only_media=tab.only_media, tag_id=tag_id,
        )  # fmt: skip
    body, ids, is_cut = await pages.render(work, found, me, is_ascending=cursor.is_ascending)
    entity = msgspec.json.decode((await render(work, [account]))[0])
    is_first = tab is TABS[0] and cursor.max_id is None
    handle = f"@{account.acct}" if account.domain else f"@{account.username}@{work.settings.domain}"
    noindex = account.noindex or account.domain != ""
    return await client_page(
        exchange,
        "client/profile.html",
        member,
        here="me" if me == account.id else "profile",
        headers=links_of(work.settings, account, account.uri),
        person=entity,
        name=Markup(emphasised(entity["display_name"] or account.username, entity["emojis"])),  # noqa: S704 - escaped
        note=Markup(written(entity["note"], entity["emojis"], own=account.domain == "")),  # noqa: S704 - cleaned
        fields=_fields(entity, own=account.domain == ""),
        handle=handle,
        actor=account.uri,
        noindex=noindex,
        is_local=account.domain == "",
        server=account.domain,
        mute_durations=MUTE_DURATIONS,
        preview=preview_of_person(entity, handle, translator(reader.language)),
        data=None if noindex else person_data(entity, handle),
        relation=await _relation(exchange, account, me),
        tabs=[(f"/@{account.acct}{one.path}", one.words, one is tab) for one in (*TABS, *([tab] if tab.tag else []))],
        featured=await _featured(exchange, account) if is_featured else None,
        pinned=await _pinned(work, account, me, reader) if is_first or is_featured else [],
        pieces=pieces(work, body, me, reader),
        older=f"max_id={ids[-1]}" if is_cut or len(ids) >= POSTS else "",
    )


def _fields(entity: dict[str, Any], *, own: bool) -> list[dict[str, Any]]:
    """Links of those who live here say `me`, so that the pages they lead to can say the same of this one."""
    return [
        {
            "name": Markup(emphasised(one["name"], entity["emojis"])),  # noqa: S704 - escaped
            "value": Markup(written(one["value"], entity["emojis"], own=own)),  # noqa: S704 - cleaned
            "verified": datetime.fromisoformat(one["verified_at"]) if one["verified_at"] else None,
        }
        for one in entity["fields"]
    ]


async def _relation(exchange: Exchange, account: Account, me: AccountId | None) -> dict[str, Any] | None:
    """What is between the two; None for strangers and for oneself."""
    if me is None or me == account.id:
        return None
    [found] = await own_api.ask(exchange, "/api/v1/accounts/relationships", id=[account.id])
    relation: dict[str, Any] = found
    return relation


async def _featured(exchange: Exchange, account: Account) -> dict[str, Any]:
    return {
        "tags": await own_api.ask(exchange, f"/api/v1/accounts/{account.id}/featured_tags"),
        "people": await own_api.ask(exchange, f"/api/v1/accounts/{account.id}/endorsements"),
    }


async def _pinned(work: Work, account: Account, me: AccountId | None, reader: PageReader) -> Sequence[Markup]:
    rows = await reading.pinned(work, me, account.id, Cursor(MOST_PINS))
    shown = [piece(work, one, me, reader) for one in await entities.render(work, rows, me)]
    return [Markup(one) for one in shown if one]  # noqa: S704 - ours


async def looking(exchange: Exchange) -> PageMember | None:
    """Who looks: nobody in particular only where strangers may, on pages as in the API."""
    member = await find_member(exchange)
    if member is None:
        check_open_to_strangers(exchange)
    return member


async def find_person(work: Work, name: str, member: PageMember | None) -> Account:
    """By name, or by `name@server` for whoever is signed in: of people elsewhere there are better pages elsewhere."""
    if len(name) > LONGEST_NAME:
        raise NotFound
    username, _, domain = name.partition("@")
    if domain and domain.lower() != work.settings.domain:
        found = await accounts.find_named(work.db, username, domain) if member is not None else None
    else:
        found = await accounts.find_named(work.db, username)
    if found is None or not found.is_listed:
        raise NotFound(NOBODY)
    if found.deleted_at is not None:
        raise Gone(ACCOUNT_GONE)
    if found.suspended_at is not None:
        raise Forbidden(ACCOUNT_SUSPENDED)
    return found


def links_of(settings: Settings, account: Account, document: str) -> Headers:
    """Where the same is for other servers."""
    if account.domain:
        return (NEGOTIATED,)
    finger = f"{settings.base_url}/.well-known/webfinger?resource=acct:{account.username}@{settings.domain}"
    links = (
        f'<{finger}>; rel="lrdd"; type="application/jrd+json", '
        f'<{document}>; rel="alternate"; type="application/activity+json"'
    )
    return (NEGOTIATED, (b"link", links.encode()))


routes = [show_profile, show_tagged, *(_shows(tab) for tab in TABS[1:])]
