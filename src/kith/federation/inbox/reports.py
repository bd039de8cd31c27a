"""Reports that other servers pass on: to the team, about our people and about those who answer them."""

from __future__ import annotations

import re

from kith.base.http.sites import site_of_domain
from kith.base.limits import Limiter
from kith.base.work import Work
from kith.federation.gate.service import Gate
from kith.federation.inbox import store
from kith.federation.inbox.floods import REPORTS_FROM_HOST
from kith.federation.inbox.undone import was_done
from kith.federation.known import Known
from kith.federation.vocabulary.incoming.activities.shapes import IncomingFlag
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, StatusId
from kith.social.moderation import reports

__all__ = ["apply_flag"]

MOST_TARGETS = 20
_PAGE = re.compile(r"/@[^/]{1,200}/([0-9]{1,19})")


async def apply_flag(work: Work, known: Known, sender: Account, activity: IncomingFlag) -> None:  # noqa: ARG001
    """One report for each of ours who is named, or whose posts are; and for each from elsewhere of whom a post is named
    that answers one of ours. Whoever is shut out already is not reported."""
    if not await work.find(Gate).takes_reports_of(sender.domain, work) or await was_done(work, sender, activity.id):
        return
    work.find(Limiter).spend(REPORTS_FROM_HOST, site_of_domain(sender.domain))
    named = [*activity.objects, *activity.links]
    page_ids = _page_ids(work.settings.base_url, named)
    posts = await store.reported_posts(work.db, named, page_ids, sender.domain)
    by_author: dict[AccountId, list[StatusId]] = {}
    for id, author in posts:
        by_author.setdefault(author, []).append(id)
    people = {one.id: one for one in await store.local_people(work.db, activity.objects)}
    people |= await accounts.find_all(work.db, [id for id in by_author if id not in people])
    there = sorted((one for one in people.values() if not one.is_gone), key=lambda one: one.id)[:MOST_TARGETS]
    for _ in there[1:]:  # each is a report, with mails to the team
        work.find(Limiter).spend(REPORTS_FROM_HOST, site_of_domain(sender.domain))
    for target in there:
        found = by_author.get(target.id, [])
        await reports.create_from_elsewhere(work, sender, target, activity.comment, found)


def _page_ids(base_url: str, links: list[str]) -> list[int]:
    """Of posts that are named by the address of their page."""
    found = (_PAGE.fullmatch(link.removeprefix(base_url)) for link in links if link.startswith(base_url))
    return [int(one[1]) for one in found if one is not None and int(one[1]) < 1 << 63]
