"""Preview cards: looked for when something is posted or edited, fetched once for everybody, and kept for a while."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.http import Outgoing, OutgoingError
from kith.base.http.sites import site_of
from kith.base.http.urls import parse_url
from kith.base.jobs import MAKES_ROOM, JobKind
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountChanged
from kith.social.accounts.lookup import find_anywhere
from kith.social.accounts.pictures import FORGET_FILES, ForgetFiles
from kith.social.files.processing import Picture
from kith.social.ids import AccountId, StatusId
from kith.social.moments import maybe
from kith.social.statuses import store as statuses
from kith.social.statuses.cards import pictures, store
from kith.social.statuses.cards.frames import clean_embed, first_link, player
from kith.social.statuses.cards.store import Card
from kith.social.statuses.tables import Status
from kith.social.webpages.reading import PageFacts, Webpages
from kith.social.webpages.values import LONGEST_NAME, LONGEST_TITLE, is_web, pixels, plain_line

FRESH = timedelta(days=14)
PAGE_BYTES = 1 << 20
OEMBED_BYTES = 1 << 18
LARGEST_PAGE = 64 << 20  # of which the beginning is read
SECONDS = 10.0
CREDITED_AFTER = timedelta(seconds=30)
CREDITED_AT_ONCE = 500


class FetchCard(msgspec.Struct):
    """The page that a post links to, read and made into a card.

    `url` is given where the author has named the page: it counts for the post as it was edited at that moment.
    """

    status_id: StatusId
    url: str = ""
    edited_at: datetime | None = None


async def look(work: Work, status: Status) -> None:
    """A card that is at hand is put on; one that is not is fetched later."""
    url = link_of(work, status)
    if url is not None and not _has_named(status):
        await _look_at(work, status, url, FetchCard(status_id=status.id))


async def look_at(work: Work, status: Status, url: str) -> None:
    """The page that the author of a post names beside its text, whatever else the text leads to."""
    if _shows_nothing_else(status) and is_web(url) and not _is_ours(work, url):
        await _look_at(work, status, url, FetchCard(status_id=status.id, url=url, edited_at=status.edited_at))


async def _look_at(work: Work, status: Status, url: str, wanted: FetchCard) -> None:
    known = await store.find(work.db, _hash(url))
    if known is None or known.fetched_at < work.now - FRESH:
        owner = f"account:{status.account_id}" if status.local else site_of(parse_url(status.uri))
        work.enqueue(FETCH, wanted, key=f"{status.id}:{wanted.url and _hash(wanted.url)}", owner=owner)
    elif status.card_id != known.id:
        await statuses.change(work.db, status.id, {"card_id": known.id})


def link_of(work: Work, status: Status) -> str | None:
    """Only of posts that show nothing else."""
    return first_link(status.content, _ours(work)) if _shows_nothing_else(status) else None


def _shows_nothing_else(status: Status) -> bool:
    return not (status.deleted_at or status.reblog_of_id or status.media_ids or status.quote_state)


def _has_named(status: Status) -> bool:
    """Posts from elsewhere lose their card with every edit: one that they have stays until then."""
    return not status.local and status.card_id is not None


def _ours(work: Work) -> tuple[str, ...]:
    settings = work.settings
    ours = (f"{settings.base_url}/", f"https://{settings.web_domain}/", f"http://{settings.web_domain}/")
    return tuple(one.lower() for one in ours)


def _is_ours(work: Work, url: str) -> bool:
    return f"{url.rstrip('/')}/".lower().startswith(_ours(work))


def _wanted(work: Work, status: Status, payload: FetchCard) -> str | None:
    """The page of which a card is wanted; none where the post says something else by now."""
    if payload.url:
        return payload.url if _shows_nothing_else(status) and status.edited_at == payload.edited_at else None
    return None if _has_named(status) else link_of(work, status)


async def find_by_url(work: Work, url: str) -> Card | None:
    return await store.find(work.db, _hash(url))


def _hash(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()


async def fetch(work: Work, payload: FetchCard) -> None:
    status = await statuses.find(work.db, payload.status_id)
    url = None if status is None else _wanted(work, status, payload)
    if status is None or url is None:
        return
    known = await store.find(work.db, _hash(url))
    if known is None or known.fetched_at < work.now - FRESH:
        card = await _made(work, url, work.new_id() if known is None else known.id)
        if card is not None:
            await _keep(work, payload, known, card)
            return
    if known is not None and status.card_id != known.id:
        await statuses.change(work.db, status.id, {"card_id": known.id})


async def _keep(work: Work, payload: FetchCard, known: Card | None, card: Card) -> None:
    """Unless the post was edited while its page was fetched."""
    await work.db.begin()
    now = await statuses.find(work.db, payload.status_id)
    card_id = await store.save(work.db, card)
    if known is not None:
        await store.show_anew(work.db, card_id)
        if known.data["image"]:
            work.enqueue(FORGET_FILES, ForgetFiles(keys=[known.data["image"]]))
    if now is not None and _wanted(work, now, payload) == card.url and now.card_id != card_id:
        await statuses.change(work.db, payload.status_id, {"card_id": card_id})


async def _made(work: Work, url: str, card_id: int) -> Card | None:
    """None where there is nothing to show; raises `OutgoingError` where it may be had another time."""
    try:
        found = await _read(work, url)
    except OutgoingError as error:
        if error.reason in ("timeout", "connect", "busy"):
            raise
        return None
    if found is None or not found.title:
        return None
    offered = await _offered(work, found.oembed) if found.oembed else {}
    source = _image_of(found, offered) if await pictures.is_wanted(work, url) else ""
    picture, size = await pictures.fetched(work, card_id, source) or (None, 0)
    return Card(
        id=card_id,
        url_hash=_hash(url),
        url=url,
        data=_data(url, found, offered, picture),
        creator_id=await _creator(work, found.creator),
        fetched_at=work.now,
        image_source=source if picture is not None else "",
        image_bytes=size,
        looked_at=None if picture is None else work.now,
    )


async def _creator(work: Work, acct: str) -> int | None:
    """Whom a page names as its author, if they can be found; whether they agree is asked when it is shown."""
    if not acct:
        return None
    try:
        return (await find_anywhere(work, acct)).id
    except NotFound:
        return None


async def _read(work: Work, url: str) -> PageFacts | None:
    """As much of a page as holds what it says about itself."""
    headers = {"Accept": "text/html, application/xhtml+xml;q=0.9"}
    async with work.find(Outgoing).stream("GET", url, headers=headers, max_bytes=LARGEST_PAGE, timeout=SECONDS) as page:
        kind, _, rest = page.headers.get("Content-Type", "").partition(";")
        if page.status != 200 or kind.strip().lower() not in ("text/html", "application/xhtml+xml"):
            return None
        body = bytearray()
        async for chunk in page:
            body += chunk
            if len(body) >= PAGE_BYTES:
                break
        charset = rest.partition("charset=")[2].strip(" \"'").partition(";")[0]
        read_from = page.url
    return await work.find(Webpages).page(bytes(body[:PAGE_BYTES]), charset[:40], read_from)


async def _offered(work: Work, url: str) -> dict[str, Any]:
    """What the page offers to embed; nothing where it cannot be had."""
    try:
        answer = await work.find(Outgoing).request(
            "GET", url, headers={"Accept": "application/json"}, max_bytes=OEMBED_BYTES, timeout=SECONDS
        )
        told = answer.json() if answer.status == 200 else {}
    except (OutgoingError, ValueError):
        return {}
    return told if isinstance(told, dict) and told.get("type") in ("photo", "video") else {}


def _image_of(page: PageFacts, offered: dict[str, Any]) -> str:
    for given in (
        offered.get("url") if offered.get("type") == "photo" else "",
        page.image,
        offered.get("thumbnail_url"),
    ):
        if isinstance(given, str) and is_web(given):
            return given
    return ""


def _data(url: str, page: PageFacts, offered: dict[str, Any], picture: Picture | None) -> dict[str, Any]:
    """PreviewCard, but for the address of its picture, whose key is kept."""
    html = clean_embed(offered["html"]) if isinstance(offered.get("html"), str) else ""
    html = html or player(page.embed, page.width, page.height)
    type = "video" if html else "photo" if offered.get("type") == "photo" and picture is not None else "link"
    width, height = (pixels(offered.get("width")) or page.width, pixels(offered.get("height")) or page.height)
    if type == "link" or not (width and height):
        width, height = (picture.width, picture.height) if picture is not None else (0, 0)
    name = plain_line(offered.get("author_name"), LONGEST_NAME) or page.author_name
    author_url = offered.get("author_url")
    author_url = author_url if isinstance(author_url, str) and is_web(author_url) else page.author_url
    provider_url = offered.get("provider_url")
    provider_url = provider_url if isinstance(provider_url, str) and is_web(provider_url) else page.provider_url
    return {
        "url": url,
        "title": plain_line(offered.get("title"), LONGEST_TITLE) or page.title,
        "description": page.description,
        "language": page.language,
        "type": type,
        "author_name": name,
        "author_url": author_url,
        "authors": [{"name": name, "url": author_url, "account": None}] if name or author_url else [],
        "provider_name": plain_line(offered.get("provider_name"), LONGEST_NAME) or page.provider_name,
        "provider_url": provider_url,
        "html": html,
        "width": width,
        "height": height,
        "image": None if picture is None else picture.key,
        "image_description": page.image_description if picture is not None else "",
        "embed_url": _image_of(page, offered) if type == "photo" else "",
        "blurhash": None if picture is None else picture.blurhash or None,
        "published_at": maybe(page.published_at),
    }


class ShowCredits(msgspec.Struct):
    """`after` is the last post that was done, which shows `card`."""

    account_id: AccountId
    after: StatusId = StatusId(0)
    card: int = 0


async def credit_anew(work: Work, fact: AccountChanged) -> None:
    """Whoever is credited is shown as they are now, or no more.

    Servers elsewhere may send any number of changes: they are shown soon, and once for all that come until then.
    """
    account = await accounts.find(work.db, fact.account_id)
    at = work.now if account is None or account.is_local else work.now + CREDITED_AFTER
    work.enqueue(SHOW_CREDITS, ShowCredits(fact.account_id), at=at, key=str(fact.account_id))


async def show_credits(work: Work, payload: ShowCredits) -> None:
    """So many posts at a time: an account may be credited under any number of them."""
    last = await store.show_credits_anew(work.db, payload.account_id, payload.card, payload.after, CREDITED_AT_ONCE)
    if last is not None:
        card, after = last
        key = f"{payload.account_id}:{card}:{after}"
        work.enqueue(SHOW_CREDITS, ShowCredits(payload.account_id, after, card), key=key)


CREDIT: JobKind[AccountChanged] = JobKind(name="statuses.credit_anew", payload=AccountChanged, handler=credit_anew)
SHOW_CREDITS: JobKind[ShowCredits] = JobKind(name="statuses.show_credits", payload=ShowCredits, handler=show_credits)
FETCH: JobKind[FetchCard] = JobKind(
    name="statuses.fetch_card",
    payload=FetchCard,
    handler=fetch,
    outside=True,
    concurrency=4,
    **MAKES_ROOM,
    attempts=3,
    patience=timedelta(minutes=2),
)
