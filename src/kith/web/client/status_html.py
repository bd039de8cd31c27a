"""Statuses as pieces of pages, made from what the API shows of them.

A piece depends on the JSON of its status, on how its reader reads and on whether it is their own, and on nothing else:
so it is kept by these, as is a whole page of them, and a timeline costs little more as a page than as JSON. What a
reader may do with a status are buttons of one form of the page, which has the token, so that pieces are the same for
all readers; where a form of its own is needed (votes), a mark stands for the token, and is replaced last.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from markupsafe import Markup

from kith.base.caches import ByVersion
from kith.base.work import Work
from kith.social.ids import AccountId
from kith.web.client.readers import PageReader
from kith.web.pages import TOKEN_MARK, render
from kith.web.shown_posts import emphasised, written

__all__ = ["FeedHtml", "StatusHtml", "joined_pieces", "piece", "pieces"]

MOST_BYTES = 16 << 20
_raws = msgspec.json.Decoder(list[msgspec.Raw])
_whole = msgspec.json.Decoder()


class StatusHtml(ByVersion[str]):
    """Pieces by the JSON they were made of."""

    def __init__(self) -> None:
        super().__init__("status_html", MOST_BYTES)


class FeedHtml(ByVersion[bytes]):
    """Whole pages of pieces, by the JSON they were made of."""

    def __init__(self) -> None:
        super().__init__("feed_html", MOST_BYTES)


def pieces(work: Work, statuses: bytes, me: AccountId | None, reader: PageReader) -> list[Markup]:
    """Of a JSON array of Statuses; what a filter hides from the reader is left out."""
    made = (piece(work, bytes(one), me, reader) for one in _raws.decode(statuses))
    return [Markup(one) for one in made if one]  # noqa: S704 - our own


def joined_pieces(work: Work, statuses: bytes, me: AccountId | None, reader: PageReader) -> bytes:
    """The same, one after the other; empty where there are none."""
    key = (statuses, _own(statuses, me), me is None, reader)
    kept = work.find(FeedHtml)
    found = kept.get(key)
    if found is None:
        found = "".join(piece(work, bytes(one), me, reader) for one in _raws.decode(statuses)).encode()
        kept.put(key, found, len(statuses) + len(found))
    return found


def _own(shown: bytes, me: AccountId | None) -> AccountId | None:
    """Pieces are the same for all whom they do not name."""
    return me if me is not None and b'"id":"%d"' % me in shown else None


def piece(work: Work, status: bytes, me: AccountId | None, reader: PageReader, *, detailed: bool = False) -> str:
    """Empty where a filter of the reader hides it."""
    own = _own(status, me)
    key = (status, own, me is None, reader, detailed)
    kept = work.find(StatusHtml)
    found = kept.get(key)
    if found is None:
        found = _make(
            _whole.decode(status),
            own,
            is_stranger=me is None,
            reader=reader,
            detailed=detailed,
            translates=bool(work.settings.translator),
        )
        kept.put(key, found, len(status) + len(found))
    return found


def _make(
    entity: dict[str, Any],
    me: AccountId | None,
    *,
    is_stranger: bool,
    reader: PageReader,
    detailed: bool,
    translates: bool,
) -> str:
    boosted = entity.get("reblog")
    one = boosted or entity
    filters = _filters((entity, one), reader.context)
    if "hide" in filters and not detailed:
        return ""
    quoted = (one.get("quote") or {}).get("quoted_status") or {}
    return render(
        "client/post.html",
        reader.language,
        zone=reader.zone,
        reader=reader,
        post=_shown(one),
        hidden_by=filters.get("warn", ()),
        blurred_by=filters.get("blur", ()),
        quote_hidden_by=[name for names in _filters((quoted,), reader.context).values() for name in names],
        row_id=entity["id"],
        booster=_person(entity["account"]) if boosted else None,
        is_mine=me is not None and one["account"]["id"] == str(me),
        is_stranger=is_stranger,
        quotes_me=me is not None and bool(quoted) and quoted["account"]["id"] == str(me),
        may_translate=translates and _is_foreign(one, reader.language),
        detailed=detailed,
        csrf=TOKEN_MARK,
    )


def _shown(one: dict[str, Any], *, nested: bool = False) -> dict[str, Any]:
    """A status with its texts made safe, and what it quotes likewise."""
    emojis = one["emojis"]
    quote = one.get("quote") or {}
    quoted = quote.get("quoted_status")
    return {
        **one,
        "account": _person(one["account"]),
        "at": datetime.fromisoformat(one["created_at"]),
        "edited": datetime.fromisoformat(one["edited_at"]) if one["edited_at"] else None,
        "html": Markup(written(one["content"], emojis)),  # noqa: S704 - cleaned
        "warning": Markup(emphasised(one["spoiler_text"], emojis)) if one["spoiler_text"] else "",  # noqa: S704 - escaped
        "quoted": _shown(quoted, nested=True) if quoted and not nested else None,
        "quote_state": quote.get("state", ""),
        "address": page_of(one),
        "boostable": one["visibility"] in ("public", "unlisted"),
        "may_quote": (one.get("quote_approval") or {}).get("current_user", "denied") != "denied",
        "poll": _poll(one["poll"]),
    }


def _person(account: dict[str, Any]) -> dict[str, Any]:
    return {
        **account,
        "shown_name": Markup(emphasised(account["display_name"] or account["username"], account["emojis"])),  # noqa: S704 - escaped
        "address": f"/@{account['acct']}",
    }


def page_of(status: dict[str, Any]) -> str:
    """Where this server shows it, wherever it comes from."""
    return f"/@{status['account']['acct']}/{status['id']}"


def _is_foreign(one: dict[str, Any], language: str) -> bool:
    """Whether a reader of this language may want it in theirs; only what is for everybody is given to a translator."""
    told = (one["language"] or "").partition("-")[0]
    return bool(one["content"]) and told != language and one["visibility"] in ("public", "unlisted")


def _filters(shown: Sequence[dict[str, Any]], context: str) -> dict[str, list[str]]:
    """The names of the reader's filters that apply here, by what they do; a boost may meet some itself."""
    found: dict[str, dict[str, None]] = {}
    for one in shown:
        for match in one.get("filtered") or ():
            rule = match["filter"]
            if context in rule["context"]:
                found.setdefault(rule["filter_action"], {})[rule["title"]] = None
    return {action: list(titles) for action, titles in found.items()}


def _poll(poll: dict[str, Any] | None) -> dict[str, Any] | None:
    """With the share of each answer, where that is known; strangers are not told of votes of theirs."""
    if poll is None:
        return None
    votes = sum(option["votes_count"] or 0 for option in poll["options"])
    people = poll["voters_count"] or votes
    options = [
        {**option, "percent": round(100 * (option["votes_count"] or 0) / people) if people else 0}
        for option in poll["options"]
    ]
    ends = datetime.fromisoformat(poll["expires_at"]) if poll["expires_at"] else None
    is_secret = any(option["votes_count"] is None for option in poll["options"])  # until it is closed
    return {"voted": False, "own_votes": [], **poll, "options": options, "ends": ends, "is_secret": is_secret}
