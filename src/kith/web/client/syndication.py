"""RSS and Atom of profiles and hashtags: what anybody may see, for programs that follow pages.

Whoever asks, it is what strangers see, so that anything on the way may keep it for a while.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange, Headers, whole
from kith.base.paging import Cursor
from kith.base.work import Work
from kith.social.accounts.entities import render
from kith.social.accounts.tables import Account
from kith.social.addresses import profile_url, tag_url
from kith.social.statuses import pages
from kith.social.tags import store as tags
from kith.social.text.html import plain
from kith.social.text.parts import normal_tag
from kith.social.timelines import reading
from kith.web.client.frame import check_open_to_strangers
from kith.web.page_language import language_of
from kith.web.shown_posts import written
from kith.web.translation import Translator, translatable, translator

__all__ = ["feed_of_person", "feed_of_tag", "split_ending"]

POSTS = 20
LONGEST_TITLE = 80
OF_PERSON = translatable("Public posts of {name}")
OF_TAG = translatable("Public posts with the hashtag {name}")
UNTITLED = translatable("A post without words")
WARNING = translatable("Content warning")
CACHED = (b"cache-control", b"public, max-age=60")
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACES = (
    'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/" '
    'xmlns:webfeeds="http://webfeeds.org/rss/1.0"'
)
_MEDIA = {"image": "image", "gifv": "video", "video": "video", "audio": "audio"}


class Channel(msgspec.Struct, frozen=True):
    """What a feed says of itself. `address` is the page that it follows."""

    title: str
    about: str
    address: str
    own_address: str
    icon: str = ""


def split_ending(name: str) -> tuple[str, str]:
    """`ada.rss` is the name and which feed of it is asked for; where it is none, the page."""
    for ending in (".rss", ".atom"):
        if name.endswith(ending) and "@" not in name:
            return name.removesuffix(ending), ending[1:]
    return name, ""


async def feed_of_person(exchange: Exchange, account: Account, ending: str) -> Answer:
    """Their own posts, without those that answer others."""
    work, say = _begin(exchange), translator(language_of(exchange))
    rows = await reading.of_account(work, None, account.id, Cursor(POSTS), no_replies=True, no_boosts=True)
    entity = msgspec.json.decode((await render(work, [account]))[0])
    handle, page = f"@{account.username}@{work.settings.domain}", profile_url(work.settings, account.username)
    channel = Channel(
        title=f"{account.display_name or account.username} ({handle})",
        about=say(OF_PERSON, name=handle),
        address=page,
        own_address=f"{page}.{ending}",
        icon=entity["avatar_static"],
    )
    headers: Headers = ((b"x-robots-tag", b"noindex"),) if account.noindex else ()
    return await _answer(exchange, ending, channel, await _posts(work, rows), say, headers)


async def feed_of_tag(exchange: Exchange, name: str, ending: str) -> Answer:
    work, say, tag = _begin(exchange), translator(language_of(exchange)), normal_tag(name)
    known = (await tags.find_named(work.db, [tag])).get(tag)
    rows = None
    if known is not None:
        rows = await reading.tagged(
            work, None, Cursor(POSTS), any_of_these=[known.id], all_of_these=[], none_of_these=[],
            local=False, remote=False, only_media=False,
        )  # fmt: skip
    page = tag_url(work.settings, tag)
    about = say(OF_TAG, name=f"#{name}")
    channel = Channel(f"#{name}", about, page, f"{page}.{ending}")
    return await _answer(exchange, ending, channel, await _posts(work, rows), say, ())


def _begin(exchange: Exchange) -> Work:
    """Programs that read feeds are strangers."""
    check_open_to_strangers(exchange)
    return exchange.work


async def _posts(work: Work, rows: str | None) -> list[dict[str, Any]]:
    body = (await pages.render(work, rows, None)).body
    found: list[dict[str, Any]] = msgspec.json.decode(body)
    return found


async def _answer(
    exchange: Exchange,
    ending: str,
    channel: Channel,
    posts: Sequence[dict[str, Any]],
    say: Translator,
    headers: Headers,
) -> Answer:
    """Whoever has this already is told so in few words."""
    write_one, write, kind = _FORMS[ending]
    written_posts = []
    for post in posts:
        written_posts.append(write_one(post, say))
        await asyncio.sleep(0)  # others are served between two posts
    body = write(channel, _newest(posts), "".join(written_posts)).encode()
    tag = b'"%b"' % hashlib.sha256(body).hexdigest()[:32].encode()
    headers = (*headers, CACHED, (b"etag", tag), (b"vary", b"Accept-Language"))
    known = exchange.header(b"if-none-match")
    if tag in [one.strip().removeprefix(b"W/") for one in known[:1000].split(b",")]:
        return Answer(304, headers)
    return whole(body, f"{kind}; charset=utf-8", headers=headers)


def _text(words: object) -> str:
    """As XML has it: what it has no letters for is left out."""
    return escape(_NOT_XML.sub("", str(words)))


def _element(name: str, words: object) -> str:
    return f"<{name}>{_text(words)}</{name}>"


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _html(post: dict[str, Any], say: Translator) -> str:
    """With the warning above it, and the answers of a poll below."""
    warning = ""
    if post["spoiler_text"]:
        warning = f"<p><strong>{escape(say(WARNING))}:</strong> {escape(post['spoiler_text'])}</p><hr />"
    options = "".join(f"<li>{escape(one['title'])}</li>" for one in (post["poll"] or {}).get("options", ()))
    return warning + written(post["content"], post["emojis"]) + (f"<ul>{options}</ul>" if options else "")


def _newest(posts: Sequence[dict[str, Any]]) -> datetime | None:
    return max((_moment(one["edited_at"] or one["created_at"]) for one in posts), default=None)


def _rss(channel: Channel, newest: datetime | None, posts: str) -> str:
    image = ""
    if channel.icon:
        image = (
            f"<image>{_element('url', channel.icon)}{_element('title', channel.title)}"
            f"{_element('link', channel.address)}</image>{_element('webfeeds:icon', channel.icon)}"
        )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" {_SPACES}><channel>'
        f"{_element('title', channel.title)}{_element('description', channel.about)}{_element('link', channel.address)}"
        f'<atom:link rel="self" type="application/rss+xml" href="{_text(channel.own_address)}"/>{image}'
        f"{_element('lastBuildDate', format_datetime(newest)) if newest else ''}{_element('generator', 'Kith')}"
        f"{posts}</channel></rss>\n"
    )


def _item(post: dict[str, Any], say: Translator) -> str:
    address = post["url"] or post["uri"]
    return (
        f'<item><guid isPermaLink="false">{_text(post["uri"])}</guid>{_element("link", address)}'
        f"{_element('pubDate', format_datetime(_moment(post['created_at'])))}"
        f"{_element('description', _html(post, say))}"
        f"{''.join(_attached(one, post) for one in post['media_attachments'] if one['url'])}"
        f"{''.join(_element('category', one['name']) for one in post['tags'])}</item>"
    )


def _attached(medium: dict[str, Any], post: dict[str, Any]) -> str:
    kind = f' medium="{_MEDIA[medium["type"]]}"' if medium["type"] in _MEDIA else ""
    rating = "adult" if post["sensitive"] else "nonadult"
    about = _element("media:description", medium["description"]) if medium["description"] else ""
    return (
        f'<media:content url="{_text(medium["url"])}"{kind}>'
        f'<media:rating scheme="urn:simple">{rating}</media:rating>{about}</media:content>'
    )


def _atom(channel: Channel, newest: datetime | None, posts: str) -> str:
    updated = (newest or datetime.fromtimestamp(0, UTC)).isoformat()
    icon = _element("icon", channel.icon) if channel.icon else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        f"{_element('id', channel.address)}{_element('title', channel.title)}{_element('subtitle', channel.about)}"
        f'{_element("updated", updated)}<link rel="alternate" type="text/html" href="{_text(channel.address)}"/>'
        f'<link rel="self" type="application/atom+xml" href="{_text(channel.own_address)}"/>{icon}'
        f"{_element('generator', 'Kith')}{posts}</feed>\n"
    )


def _entry(post: dict[str, Any], say: Translator) -> str:
    author = post["account"]
    said = " ".join((post["spoiler_text"] or plain(post["content"])).split())
    title = said[:LONGEST_TITLE] + ("…" if len(said) > LONGEST_TITLE else "") or say(UNTITLED)
    files = [f'<link rel="enclosure" href="{_text(one["url"])}"/>' for one in post["media_attachments"] if one["url"]]
    return (
        f"<entry>{_element('id', post['uri'])}{_element('title', title)}"
        f'<link rel="alternate" type="text/html" href="{_text(post["url"] or post["uri"])}"/>'
        f"{_element('published', _moment(post['created_at']).isoformat())}"
        f"{_element('updated', _moment(post['edited_at'] or post['created_at']).isoformat())}"
        f"<author>{_element('name', author['display_name'] or author['username'])}{_element('uri', author['url'])}"
        f'</author><content type="html">{_text(_html(post, say))}</content>'
        f"{''.join(f'<category term={_quoted(one)}/>' for one in post['tags'])}{''.join(files)}</entry>"
    )


def _quoted(tag: dict[str, Any]) -> str:
    return f'"{_text(tag["name"])}"'


WriteOne = Callable[[dict[str, Any], Translator], str]
Write = Callable[[Channel, datetime | None, str], str]
_FORMS: dict[str, tuple[WriteOne, Write, str]] = {
    "rss": (_item, _rss, "application/rss+xml"),
    "atom": (_entry, _atom, "application/atom+xml"),
}
