"""From what somebody typed to what is kept: who is mentioned, which tags it has, how it reads."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kith.base.errors import Complaint, Invalid
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.directory import Directory
from kith.social.accounts.tables import Account
from kith.social.addresses import tag_url
from kith.social.relationships import store as relationships
from kith.social.tags import store as tags
from kith.social.tags.tables import Tag
from kith.social.text import counting
from kith.social.text.html import to_html
from kith.social.text.parts import hashtags, mentions, normal_tag

MOST_CHARACTERS = 500
MOST_MENTIONS = 100


class Wording(msgspec.Struct):
    """A text, understood."""

    content: str
    mentioned: list[Account]
    tags: dict[str, str]  # by the name they are compared by, how they are written


def check_length(text: str, spoiler: str) -> None:
    if counting.length(text) + counting.graphemes(spoiler) > MOST_CHARACTERS:
        words = f"character limit of {MOST_CHARACTERS} exceeded"
        raise Invalid(fields={"text": [Complaint(words, "too_long")]})


async def understand(work: Work, author: Account, text: str) -> Wording:
    """Whom the author blocks, or whose domain, is not mentioned, and who is not known stays plain text."""
    people = await _people(work, author, mentions(text)[:MOST_MENTIONS])
    links = {name: (one.url or one.uri, one.username) for name, one in people.items()}
    content = to_html(text, links, lambda name: tag_url(work.settings, name))
    found = {account.id: account for account in people.values()}
    return Wording(content, list(found.values()), {normal_tag(name): name for name in hashtags(text)})


async def _people(work: Work, author: Account, named: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Account]:
    if not named:
        return {}
    is_ours = work.settings.is_own_domain
    wanted = {(name, domain): (name, "" if is_ours(domain) else domain) for name, domain in named}
    known = await accounts.find_all_named(work.db, list(dict.fromkeys(wanted.values())))
    directory = work.find(Directory)  # type: ignore[type-abstract]
    for name, domain in wanted.values():
        if domain and (name, domain) not in known:
            found = await directory.find(work, name, domain)
            if found is not None:
                known[name, domain] = found
    there = {key: one for key, one in known.items() if one.is_listed and not one.is_gone}
    blocked = await relationships.blocked_among(work.db, author.id, [one.id for one in there.values()])
    domains = sorted({one.domain for one in there.values() if one.domain})
    barred = await relationships.blocked_domains_among(work.db, author.id, domains)
    meant = {key: one for key, one in there.items() if one.id not in blocked and one.domain not in barred}
    return {spelled: meant[key] for spelled, key in wanted.items() if key in meant}


async def note_tags(work: Work, wording: Wording) -> list[Tag]:
    """The tags of a text, which must all be usable."""
    ids = [work.new_id() for _ in wording.tags]
    noted = await tags.note(work.db, wording.tags, ids=ids, now=work.now)
    for name in wording.tags:
        if not noted[name].usable:
            words = f"contained a disallowed hashtag: {noted[name].display}"
            raise Invalid(fields={"text": [Complaint(words)]})
    return [noted[name] for name in wording.tags]
