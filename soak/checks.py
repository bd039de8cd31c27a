"""Is what was accepted there, once, everywhere it must be? Pure: the ledger against what both databases hold."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from kith.base.jobs.tables import DEAD
from kith.social.statuses.tables import DIRECT, PUBLIC, UNLISTED
from soak.acts import MARK, Community
from soak.ledger import Ledger, Post
from soak.people import Person
from soak.snapshot import Snapshot, StatusRow

__all__ = ["check"]

_FEED = 300  # of a home's newest entries; it forgets what is older than its 800th
_TAGS = re.compile(r"<[^>]+>")
Finding = tuple[str, str]


class Found:
    """One server's rows, by what the ledger calls them."""

    def __init__(self, snapshot: Snapshot, community: Community) -> None:
        self.snapshot = snapshot
        self.by_mark: dict[str, list[StatusRow]] = defaultdict(list)
        live = [row for row in snapshot.statuses if row.deleted_at is None]
        for row in live:
            mark = MARK.search(row.content) if row.reblog_of_id is None else None
            if mark:
                self.by_mark[mark[0]].append(row)
        self.boosts = Counter((row.account_id, row.reblog_of_id) for row in live if row.reblog_of_id is not None)
        self.favourites = Counter((row.account_id, row.target_id) for row in snapshot.favourites)
        self.bookmarks = Counter((row.account_id, row.target_id) for row in snapshot.bookmarks)
        self.follows = Counter((row.account_id, row.target_id) for row in snapshot.follows)
        self.blocks = Counter((row.account_id, row.target_id) for row in snapshot.blocks)
        self.notices = Counter((row.type, row.from_id, row.account_id, row.status_id) for row in snapshot.notices)
        named = {(row.username, row.domain): row.id for row in snapshot.accounts}
        self.people: dict[str, int] = {}
        for handle, one in community.by_handle.items():
            domain = "" if one.site.name == snapshot.site else one.site.host
            if (one.name, domain) in named:
                self.people[handle] = named[one.name, domain]
        self.live = live

    def status(self, mark: str) -> int | None:
        rows = self.by_mark.get(mark, [])
        return rows[0].id if rows else None


def check(ledger: Ledger, community: Community, snapshots: list[Snapshot], *, is_end: bool) -> list[Finding]:
    found = {one.site: Found(one, community) for one in snapshots}
    findings = [
        *_posts(ledger, community, found),
        *_marks(ledger, community, found),
        *_people(ledger, community, found),
        *_notices(ledger, community, found),
        *_homes(ledger, community, found),
    ]
    for one in found.values():
        findings += _counters(one)
        findings += [("dead job", f"{one.snapshot.site}: {job.kind}: {job.error}") for job in one.snapshot.jobs
                     if job.state == DEAD]  # fmt: skip
        if is_end:
            findings += [("delivery left", f"{one.snapshot.site}: {row}") for row in one.snapshot.deliveries]
    return findings


def _expected(state: bool | None, count: int, words: str) -> Iterator[Finding]:
    if count > 1:
        yield "doubled", f"{words}: {count} times"
    elif state is True and count == 0:
        yield "lost", words
    elif state is False and count:
        yield "there although it must not be", words


def _goes_across(post: Post, community: Community, site: str) -> bool:
    """Whether the other server is told: it has followers of everybody, and direct posts go to whom they name."""
    if post.sent["visibility"] != "direct":
        return True
    return any(community.by_handle[one].site.name == site for one in post.mentions)


def _posts(ledger: Ledger, community: Community, found: dict[str, Found]) -> Iterator[Finding]:
    for post in ledger.posts.values():
        for site, one in found.items():
            rows = one.by_mark.get(post.mark, [])
            if site != post.site and not _goes_across(post, community, site):
                continue
            yield from _expected(post.there, len(rows), f"{post.mark} of {post.author} at {site}")
            if site == post.site and post.there and rows and str(rows[0].id) != post.id:
                yield "lost", f"{post.mark} is {rows[0].id} at {site}, and was answered as {post.id}"
            if post.there and rows and post.text and "said anew" in post.text:
                text = _TAGS.sub("", rows[0].content)
                if text != post.text:
                    yield "an edit was lost", f"{post.mark} at {site} says {text!r} in place of {post.text!r}"


def _marks(ledger: Ledger, community: Community, found: dict[str, Found]) -> Iterator[Finding]:
    for (verb, who, what), state in ledger.marks.items():
        post = ledger.posts.get(what)
        if post is None or not post.there or verb not in ("favourite", "boost", "bookmark"):
            continue
        me = community.by_handle[who]
        for site, one in found.items():
            status, account = one.status(what), one.people.get(who)
            if status is None or account is None:
                continue
            if verb == "bookmark" and site != me.site.name:
                continue
            if verb == "favourite" and site not in (me.site.name, post.site):
                continue
            rows = {"favourite": one.favourites, "boost": one.boosts, "bookmark": one.bookmarks}[verb]
            yield from _expected(state, rows[account, status], f"{verb} of {what} by {who} at {site}")


def _people(ledger: Ledger, community: Community, found: dict[str, Found]) -> Iterator[Finding]:
    for (verb, who, whom), state in ledger.marks.items():
        if verb not in ("follow", "block"):
            continue
        sites = {community.by_handle[one].site.name for one in (who, whom)}
        for site in sites:
            one = found[site]
            rows = one.follows if verb == "follow" else one.blocks
            pair = (one.people.get(who, 0), one.people.get(whom, 0))
            yield from _expected(state, rows[pair], f"{verb} of {whom} by {who} at {site}")
    for me in community.core:
        for other in community.others(me):
            one = found[me.site.name]
            pair = (one.people.get(me.handle, 0), one.people.get(other.handle, 0))
            yield from _expected(
                True, one.follows[pair], f"follow of {other.handle} by {me.handle}, which nobody ended"
            )


def _notices(ledger: Ledger, community: Community, found: dict[str, Found]) -> Iterator[Finding]:
    """Who was mentioned, favourited or boosted is told once."""
    for (verb, who, what), state in ledger.marks.items():
        post = ledger.posts.get(what)
        type = {"favourite": "favourite", "boost": "reblog"}.get(verb)
        if post is not None and post.there and state and type:
            yield from _told(found[post.site], type, who, post.author, post)
    for post in ledger.posts.values():
        if post.there:
            for whom in post.mentions:
                yield from _told(found[community.by_handle[whom].site.name], "mention", post.author, whom, post)


def _told(one: Found, type: str, who: str, whom: str, post: Post) -> Iterator[Finding]:
    status = one.status(post.mark)
    if status is not None:
        key = (type, one.people.get(who, 0), one.people.get(whom, 0), status)
        yield from _expected(True, one.notices[key], f"notification of {whom}: {type} by {who} of {post.mark}")


def _homes(ledger: Ledger, community: Community, found: dict[str, Found]) -> Iterator[Finding]:
    """What somebody posts is on the home of everybody who follows them."""
    for me in community.core:
        one = found[me.site.name]
        owner = one.people[me.handle]
        newest = sorted(one.snapshot.feeds.get(owner, []), reverse=True)[:_FEED]
        entries, oldest = Counter(newest), newest[-1] if len(newest) == _FEED else 0
        for post in ledger.posts.values():
            status = one.status(post.mark)
            if status is not None and post.there and status > oldest and _is_for(post, me, community):
                yield from _expected(True, entries[status], f"{post.mark} on the home of {me.handle}")


def _is_for(post: Post, me: Person, community: Community) -> bool:
    if post.author == me.handle or "in_reply_to_id" in post.sent:
        return False
    return post.sent["visibility"] != "direct" and post.author in community.by_handle


def _counters(one: Found) -> Iterator[Finding]:
    """Of those who live there: of others a server knows a part."""
    here = {row.id: row for row in one.snapshot.accounts if row.domain == ""}
    favourites = Counter(row.target_id for row in one.snapshot.favourites)
    boosts = Counter(row.reblog_of_id for row in one.live if row.reblog_of_id is not None)
    replies = Counter(row.in_reply_to_id for row in one.live if row.visibility in (PUBLIC, UNLISTED))
    posted = Counter(row.account_id for row in one.live if row.visibility != DIRECT)
    for row in one.live:
        if row.account_id in here and row.reblog_of_id is None:
            for name, said, is_ in (
                ("favourites", row.favourites_count, favourites[row.id]),
                ("reblogs", row.reblogs_count, boosts[row.id]),
                ("replies", row.replies_count, replies[row.id]),
            ):
                if said != is_:
                    yield "a count is wrong", f"{one.snapshot.site}: status {row.id} says {said} {name}, has {is_}"
    following = Counter(row.account_id for row in one.snapshot.follows)
    followers = Counter(row.target_id for row in one.snapshot.follows)
    for account in here.values():
        for name, said, is_ in (
            ("following", account.following_count, following[account.id]),
            ("followers", account.followers_count, followers[account.id]),
            ("statuses", account.statuses_count, posted[account.id]),
        ):
            if said != is_:
                yield "a count is wrong", f"{one.snapshot.site}: {account.username} says {said} {name}, has {is_}"
