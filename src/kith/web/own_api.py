"""What pages read and write through our own API, as the person who looks at them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec

from kith.base.errors import Problem
from kith.base.exchange import Answer, Exchange
from kith.base.own_calls import OwnRoutes, Pairs
from kith.social.errors import shape
from kith.social.errors import words_of as words_of_api
from kith.web.page_language import language_of

__all__ = ["ask", "ask_page", "call", "error_of", "other_pages", "pairs", "words_of"]

# Where apps rely on Mastodon's own words, which are not made for people.
_CLEARER = {
    "Text can't be blank": "Write something, or attach a file.",
    "File content type is invalid, File is invalid": "Only pictures, films and sound can be attached.",
    "Scheduled at date must be in the future": "The time must be in the future, by five minutes or more.",
    "Scheduled at The scheduled date must be in the future": "The time must be in the future, by five minutes or more.",
    "Choices must have more than one item": "A poll needs at least two answers.",
    "The chosen vote option does not exist": "Choose an answer first.",
}

LONGEST_KEPT = 1024


async def call(
    exchange: Exchange,
    method: str,
    path: str,
    *,
    query: Pairs = (),
    form: dict[str, Any] | None = None,
    json: object = None,
) -> Answer:
    return await exchange.find(OwnRoutes).call(exchange, method, path, query=query, form=form, json=json)


async def ask(exchange: Exchange, path: str, **query: object) -> Any:
    """The answer to a GET, decoded."""
    return msgspec.json.decode((await call(exchange, "GET", path, query=pairs(query))).body)


async def ask_page(exchange: Exchange, path: str, **query: object) -> tuple[Any, dict[str, str]]:
    """The same of a list by pages: and the queries of the next and the previous page, where there are such."""
    answer = await call(exchange, "GET", path, query=pairs(query))
    return msgspec.json.decode(answer.body), other_pages(answer, but=tuple(query))


def words_of(exchange: Exchange, problem: Problem) -> str:
    """What was refused, in the words of the social API, in the language of the page."""
    said = words_of_api(problem, exchange, language_of(exchange))
    return _CLEARER.get(said, said)


def error_of(exchange: Exchange, problem: Problem) -> str:
    """As apps of the social API are told it."""
    told: dict[str, Any] = msgspec.json.decode(shape(problem, exchange).body)
    return str(told["error"])


def other_pages(answer: Answer, *, but: Sequence[str] = ()) -> dict[str, str]:
    """`Link: <https://here/api/…?max_id=5>; rel="next", …`: the queries by their relation.

    Without the parameters `but`, which the page itself brings.
    """
    links = next((value for name, value in answer.headers if name.lower() == b"link"), b"")
    if len(links) > LONGEST_KEPT:
        return _queries(links, tuple(but))
    return dict(_kept_queries(links, tuple(but)))


def _queries(header: bytes, but: tuple[str, ...]) -> dict[str, str]:
    links, found = header.decode("latin-1"), dict[str, str]()
    for one in links.split(", <"):
        address, _, relation = one.partition(">; rel=")
        pairs = parse_qsl(address.partition("?")[2])
        if relation:
            found[relation.strip('"')] = urlencode([(name, value) for name, value in pairs if name not in but])
    return found


# A page is looked at again and again between two posts.
_kept_queries = lru_cache(1024)(_queries)


def pairs(query: Mapping[str, object]) -> Pairs:
    """Lists as the API reads them, and without what is empty."""
    found: list[tuple[str, str]] = []
    for name, value in query.items():
        if isinstance(value, list | tuple):
            found += [(f"{name}[]", str(one)) for one in value]
        elif isinstance(value, bool):
            found.append((name, "true" if value else "false"))
        elif value is not None and value != "":
            found.append((name, str(value)))
    return found
