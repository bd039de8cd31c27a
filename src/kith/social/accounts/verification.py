"""Whether a page that a profile links to links back to the profile."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import msgspec

from kith.base.http import Outgoing, OutgoingError
from kith.base.http.sites import registrable_domain
from kith.base.jobs import MAKES_ROOM, JobKind
from kith.base.work import Work
from kith.social.accounts import store
from kith.social.accounts.facts import AccountChanged
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.moments import moment
from kith.social.text.tags import start_tags
from kith.social.webpages.reading import Webpages

MOST_BYTES = 1 << 20
SECONDS = 10.0
LONGEST_URL = 2048
MOST_LINKS = 10
HTML = ("text/html", "application/xhtml+xml")
LATEST_SECONDS = 600


def address_in(field: Mapping[str, Any]) -> str:
    """What a row links to. People elsewhere send HTML, in which one link counts and several do not."""
    value: str = field["value"]
    if "<" not in value:
        return value
    links = [link.get("href", "") for link in islice(start_tags(value, "a"), 2)]
    return links[0] if len(links) == 1 else ""


def is_verifiable(field: Mapping[str, Any]) -> bool:
    """An address of a page, whole and by itself, that was not found to link back yet."""
    url = address_in(field)
    if field.get("verified_at") or not url.startswith("https://") or len(url) > LONGEST_URL or " " in url:
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and "." in (parts.hostname or "") and parts.username is None
    except ValueError:
        return False


async def links_back(work: Work, account: Account, url: str) -> bool:
    """Raises `OutgoingError` when the page cannot be had."""
    answer = await work.find(Outgoing).request(
        "GET", url, headers={"Accept": "text/html"}, max_bytes=MOST_BYTES, timeout=SECONDS
    )
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if answer.status != 200 or kind not in HTML or not _is_of(answer.url, url):
        return False
    ours = {_normal(one) for one in (account.url, account.uri) if one}
    return any(_normal(link) in ours for link in await work.find(Webpages).own_links(answer.body, url))


def _is_of(found: str, url: str) -> bool:
    """Whether a page that was found by way of others is of the same site: it speaks for no other."""
    hosts = [registrable_domain(urlsplit(one).hostname or "") for one in (found, url)]
    return found.startswith("https://") and hosts[0] == hosts[1]


def _normal(url: str) -> str:
    return url.strip().rstrip("/").lower()


def verify_later(work: Work, account_id: AccountId, fields: Sequence[Mapping[str, Any]]) -> None:
    """Of people elsewhere, at some time in the next minutes: many servers hear of a change at once."""
    if any(map(is_verifiable, fields)):
        at = work.now + timedelta(seconds=secrets.randbelow(LATEST_SECONDS))
        work.enqueue(VERIFY_LINKS, VerifyLinks(account_id=account_id), key=str(account_id), at=at)


class VerifyLinks(msgspec.Struct):
    account_id: AccountId


async def verify_links(work: Work, payload: VerifyLinks) -> None:
    """All pages are asked first; then those rows are marked that still say the same."""
    account = await store.find(work.db, payload.account_id)
    if account is None or account.is_gone:
        return
    proven, failed = set(), None
    urls = dict.fromkeys(address_in(field) for field in account.fields if is_verifiable(field))
    for url in islice(urls, MOST_LINKS):
        try:
            if await links_back(work, account, url):
                proven.add(url)
        except OutgoingError as error:
            failed = error
    await _mark(work, account.id, proven)
    if failed is not None and not proven and failed.reason in ("timeout", "connect", "busy"):
        raise failed  # perhaps they are there another time


async def _mark(work: Work, account_id: AccountId, proven: set[str]) -> None:
    if not proven:
        return
    await work.db.hold(f"account:{account_id}")
    now = await store.find(work.db, account_id)
    if now is None or not any(address_in(field) in proven and is_verifiable(field) for field in now.fields):
        return
    fields = [
        field | {"verified_at": moment(work.now)} if address_in(field) in proven and is_verifiable(field) else field
        for field in now.fields
    ]
    await store.change(work.db, account_id, {"fields": fields}, work.now)
    work.announce(AccountChanged(account_id=account_id))


VERIFY_LINKS: JobKind[VerifyLinks] = JobKind(
    name="accounts.verify_links",
    payload=VerifyLinks,
    handler=verify_links,
    outside=True,
    concurrency=4,
    **MAKES_ROOM,
    attempts=4,
    patience=timedelta(minutes=2),
)
