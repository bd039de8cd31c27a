"""What the server knows of itself, and what its operator writes about it."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Literal

import msgspec

from kith.base.errors import Invalid, NotFound
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts.tables import Account
from kith.social.addresses import tag_url
from kith.social.instance import store
from kith.social.instance.tables import InstancePage, Rule
from kith.social.text.html import to_html

PageKind = Literal["extended_description", "privacy_policy", "terms_of_service"]
KINDS: tuple[PageKind, ...] = ("extended_description", "privacy_policy", "terms_of_service")
WEEKS = 12
MONTH = timedelta(weeks=4)
LONGEST_RULE = 300
LONGEST_PAGE = 500_000
_TAGS_REFUSED = {"img", "map", "area"}


class Numbers(msgspec.Struct, frozen=True):
    members: int
    said: int
    domains: int
    active_month: int


async def numbers(work: Work, *, members: int) -> Numbers:
    today = work.now.date()
    return Numbers(
        members=members,
        said=await store.count_said(work.db),
        domains=len(await store.domains(work.db)),
        active_month=await store.present(work.db, (today - MONTH).isoformat(), today.isoformat()),
    )


async def activity(work: Work) -> list[dict[str, str]]:
    """Twelve weeks, newest first; each is told of by its first day."""
    today = work.now.date()
    first = today - timedelta(weeks=WEEKS - 1)
    said = await store.counted(work.db, "statuses", first.isoformat())
    came = Counter(at.astimezone(UTC).date() for at in await identity.joined_since(work, _midnight(first)))
    return [await _week(work, today - timedelta(weeks=ago), said, came) for ago in range(WEEKS)]


async def _week(work: Work, start: date, said: dict[str, int], came: Counter[date]) -> dict[str, str]:
    days = [start + timedelta(days=number) for number in range(7)]
    here = await store.present(work.db, days[0].isoformat(), days[-1].isoformat())
    return {
        "week": str(int(_midnight(start).timestamp())),
        "statuses": str(sum(said.get(day.isoformat(), 0) for day in days)),
        "logins": str(here),
        "registrations": str(sum(came[day] for day in days)),
    }


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


async def contact(work: Work) -> Account | None:
    """Whom to turn to: the first owner."""
    return await store.find_owner(work.db)


# What the operator writes


async def add_rule(work: Work, text: str, hint: str = "") -> Rule:
    text = text.strip()
    if not text or len(text) > LONGEST_RULE:
        raise Invalid(f"a rule is between 1 and {LONGEST_RULE} letters long")
    known = await store.all_rules(work.db)
    rule = Rule(work.new_id(), text, hint.strip(), max((one.position for one in known), default=0) + 1)
    await store.add_rule(work.db, rule)
    return rule


async def remove_rule(work: Work, rule_id: int) -> None:
    """It is kept for those who were told of it, and shown no more."""
    if not await store.remove_rule(work.db, rule_id, work.now):
        raise NotFound(f"there is no rule {rule_id}")


async def write_page(work: Work, kind: PageKind, text: str, *, begins: date | None, changelog: str = "") -> bool:
    """Text, or HTML if it begins with a tag. An empty text takes the page away: False."""
    day = (begins or work.now.date()).isoformat() if kind == "terms_of_service" else ""
    if not text.strip():
        if not await store.remove_page(work.db, kind, day):
            raise NotFound("there is no such page")
        return False
    if len(text) > LONGEST_PAGE:
        raise Invalid(f"a page is at most {LONGEST_PAGE} letters long")
    await store.write_page(work.db, InstancePage(kind, day, page_html(work, text), changelog, work.now))
    return True


def page_html(work: Work, text: str) -> str:
    """A page as it is kept."""
    if re.match(r"\s*<[a-zA-Z!]", text):
        import nh3  # noqa: PLC0415 - loaded when first used

        return nh3.clean(text, tags=nh3.ALLOWED_TAGS - _TAGS_REFUSED)
    return to_html(text, {}, lambda name: tag_url(work.settings, name), own_links=True)


async def find_page(work: Work, kind: PageKind) -> InstancePage | None:
    found = await store.pages_of(work.db, kind)
    return found[-1] if found else None


class Terms(msgspec.Struct, frozen=True):
    page: InstancePage
    is_effective: bool
    succeeded_by: str | None


async def find_terms(work: Work, day: str | None = None) -> Terms:
    """Those of a day, or those that hold today; before the first hold, these."""
    found = await store.pages_of(work.db, "terms_of_service")
    today = work.now.date().isoformat()
    begun = [page for page in found if page.effective_date <= today]
    wanted = [page for page in found if page.effective_date == day] if day else (begun[-1:] or found[:1])
    if not wanted:
        raise NotFound
    [page] = wanted
    later = [other.effective_date for other in found if other.effective_date > page.effective_date]
    return Terms(page, page in begun[-1:], later[0] if later else None)
