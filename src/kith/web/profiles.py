"""/@name and /@name/id: somebody's page, and the page of a post, for whoever has no account here.

They show what a stranger may see. Programs that ask for ActivityStreams at the same address get that.
"""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Gone, NotFound, Unauthenticated
from kith.base.exchange import Answer, Exchange, Headers
from kith.base.paging import Cursor
from kith.base.routing import FromPath, get
from kith.base.settings import Settings
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.social.accounts import store as accounts
from kith.social.accounts.entities import render
from kith.social.accounts.tables import Account
from kith.social.addresses import profile_url, status_url
from kith.social.ids import StatusId
from kith.social.representations import NEGOTIATED, Representations, wants_activity
from kith.social.statuses import entities, pages, threads
from kith.social.statuses import store as statuses
from kith.social.timelines import reading
from kith.web.errors import DIALECT
from kith.web.pages import page, see_other
from kith.web.shown_posts import ShownPost, emphasised, shown_post, written

POSTS = 20
MOST_PINS = 5


@get("/@{name}")
async def show_profile(exchange: Exchange, work: Work, name: FromPath[str]) -> Answer:
    if wants_activity(exchange):
        return await exchange.find(Representations).person(exchange, name)  # type: ignore[type-abstract]
    visitor = await _visitor(exchange)
    account = await _person(work, name)
    if account.username != name:
        return see_other(profile_url(work.settings, account.username), status=301, headers=(NEGOTIATED,))
    cursor = Cursor.read(exchange.query_string, default=POSTS, most=POSTS)
    found = await reading.of_account(work, None, account.id, cursor, no_replies=True)
    body, ids = await pages.render(work, found, None, is_ascending=cursor.is_ascending)
    entity = msgspec.json.decode((await render(work, [account]))[0])
    return page(
        exchange,
        "profile.html",
        headers=_headers(work.settings, account, account.uri),
        visitor=visitor,
        person=entity,
        name=emphasised(entity["display_name"] or account.username, entity["emojis"]),
        note=written(entity["note"], entity["emojis"]),
        fields=[(one["name"], written(one["value"], entity["emojis"])) for one in entity["fields"]],
        handle=f"@{account.username}@{work.settings.domain}",
        actor=account.uri,
        noindex=account.noindex,
        pinned=await _pinned(work, account) if cursor.max_id is None else [],
        posts=[shown_post(one) for one in msgspec.json.decode(body)],
        older=f"?max_id={ids[-1]}" if len(ids) >= POSTS else "",
    )


@get("/@{name}/{id}")
async def show_post(exchange: Exchange, work: Work, name: FromPath[str], id: FromPath[int]) -> Answer:
    """With what it answers above it, and what answers it below."""
    if wants_activity(exchange):
        return await exchange.find(Representations).status(exchange, name, id)  # type: ignore[type-abstract]
    visitor = await _visitor(exchange)
    author = await _person(work, name)
    status = await statuses.find_visible(work.db, StatusId(id), None)
    if status is None or status.account_id != author.id:
        raise NotFound
    if status.reblog_of_id is not None:
        boosted = await statuses.find_visible(work.db, status.reblog_of_id, None)
        if boosted is None:
            raise NotFound
        return see_other(boosted.url or boosted.uri, status=302, headers=(NEGOTIATED,))
    if author.username != name:
        return see_other(status_url(work.settings, author.username, status.id), status=301, headers=(NEGOTIATED,))
    above = await threads.ancestors(work, status, None)
    below = await threads.descendants(work, status, None)
    shown = await entities.render_by_id(work, [*above, status.id, *below], None)
    if status.id not in shown:
        raise NotFound
    return page(
        exchange,
        "post.html",
        headers=_headers(work.settings, author, status.uri),
        visitor=visitor,
        post=_decoded(shown, [status.id])[0],
        above=_decoded(shown, above),
        below=_decoded(shown, below),
        document=status.uri,
        noindex=author.noindex,
    )


def _decoded(shown: dict[StatusId, bytes], ids: list[StatusId]) -> list[ShownPost]:
    return [shown_post(msgspec.json.decode(shown[id])) for id in ids if id in shown]


async def _visitor(exchange: Exchange) -> Any:
    """In secure mode nothing is shown to strangers, on pages as in the API."""
    visitor = await identity.find_visitor(exchange)
    if visitor is None and exchange.server.works.settings.secure_mode:
        raise Unauthenticated
    return visitor


async def _person(work: Work, name: str) -> Account:
    found = await accounts.find_named(work.db, name) if len(name) <= 200 else None
    if found is None or not found.is_listed or (found.suspended_at is not None and found.deleted_at is None):
        raise NotFound
    if found.deleted_at is not None:
        raise Gone
    return found


async def _pinned(work: Work, account: Account) -> list[ShownPost]:
    rows = await reading.pinned(work, None, account.id, Cursor(MOST_PINS))
    return [shown_post(msgspec.json.decode(one)) for one in await entities.render(work, rows, None)]


def _headers(settings: Settings, account: Account, document: str) -> Headers:
    """Where the same is for other servers; and pictures may come from where media are kept."""
    finger = f"{settings.base_url}/.well-known/webfinger?resource=acct:{account.username}@{settings.domain}"
    links = (
        f'<{finger}>; rel="lrdd"; type="application/jrd+json", '
        f'<{document}>; rel="alternate"; type="application/activity+json"'
    )
    return (NEGOTIATED, (b"link", links.encode()), (b"content-security-policy", _policy(settings)))


def _policy(settings: Settings) -> bytes:
    usual = dict(DIALECT.headers)[b"content-security-policy"]
    places = " ".join(["'self'", *({_origin(settings.media_url)} if settings.media_url else ())]).encode()
    return usual.replace(b"img-src 'self' data:", b"img-src %b data:; media-src %b" % (places, places))


def _origin(url: str) -> str:
    return "/".join(url.split("/")[:3])


routes = [show_profile, show_post]
