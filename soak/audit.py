"""Everything that was accepted, looked for: in both databases, through the API, and by Kith's own commands."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections import Counter
from pathlib import Path

from soak.acts import MARK, Community
from soak.checks import check
from soak.ledger import Ledger
from soak.people import Person
from soak.snapshot import is_at_work, take_snapshot
from soak.staff import Staff
from soak.town import Stage

__all__ = ["Audit"]

_PATIENCE_SECONDS = 300.0
_PAGES = 60


class Audit:
    def __init__(self, stage: Stage, ledger: Ledger, community: Community, staff: Staff) -> None:
        self._stage, self._ledger, self._community, self._staff = stage, ledger, community, staff
        self.settling: list[float] = []
        self._said: set[tuple[str, str]] = set()

    async def look(self, *, is_end: bool) -> None:
        """While nobody acts, once all that waits is done."""
        await self._settle()
        snapshots = [await take_snapshot(site) for site in self._stage.sites]
        for rule, words in check(self._ledger, self._community, snapshots, is_end=is_end):
            self._say(rule, words)
        if is_end:
            await self._by_api()

    def _say(self, rule: str, words: str) -> None:
        """Once, however often it is found again."""
        if (rule, words) not in self._said:
            self._said.add((rule, words))
            self._ledger.violated(rule, words)

    async def _settle(self) -> None:
        started_at = time.monotonic()
        while left := [one for site in self._stage.sites for one in await is_at_work(site)]:
            if time.monotonic() - started_at > _PATIENCE_SECONDS:
                self._say("not done in time", "; ".join(left[:10]))
                break
            await asyncio.sleep(0.5)
        self.settling.append(round(time.monotonic() - started_at, 1))

    # As people see it

    async def _by_api(self) -> None:
        for me in self._community.core:
            await self._own_posts(me)
            await self._home(me)
            await self._own_things(me, "list", "/api/v1/lists")
            await self._own_things(me, "filter", "/api/v2/filters")
        await self._votes()
        await self._records()
        for key, state in self._ledger.revoked.items():
            if state:
                await self._staff.me.asker.ask(
                    self._stage.here, "token revoked", "GET", "/api/v1/accounts/verify_credentials",
                    headers={"Authorization": f"Bearer {key}"}, fine=(401,),
                )  # fmt: skip

    async def _marks(self, me: Person, path: str, pages: int) -> Counter[str]:
        seen: Counter[str] = Counter()
        oldest = ""
        for _ in range(pages):
            answer = await me.ask("audit", "GET", f"{path}?limit=40{oldest}")
            if not answer.is_yes or not answer.body:
                break
            for one in answer.body:
                mark = None if one["reblog"] else MARK.search(one["content"])
                if mark:
                    seen[mark[0]] += 1
            oldest = f"&max_id={answer.body[-1]['id']}"
        return seen

    async def _own_posts(self, me: Person) -> None:
        seen = await self._marks(me, f"/api/v1/accounts/{me.id}/statuses", _PAGES)
        mine = [one for one in self._ledger.posts.values() if one.author == me.handle]
        for post in mine[-40 * _PAGES :]:
            count = seen[post.mark]
            if count > 1 or (post.there and not count) or (post.there is False and count):
                self._say("the API shows something else", f"{post.mark} of {me.handle}: {count} times, {post.there}")

    async def _home(self, me: Person) -> None:
        for mark, count in (await self._marks(me, "/api/v1/timelines/home", 20)).items():
            if count > 1:
                self._say("doubled", f"{mark} is on the home of {me.handle} {count} times")

    async def _own_things(self, me: Person, kind: str, path: str) -> None:
        answer = await me.ask("audit", "GET", path)
        there = Counter(one["title"] for one in answer.body) if answer.is_yes else Counter[str]()
        for (what, name), state in self._ledger.things.items():
            if what == f"{kind} of {me.handle}":
                count = there[name]
                if count > 1 or (state and not count) or (state is False and count):
                    self._say("lost or doubled", f"{kind} {name!r} of {me.handle}: {count} times, {state}")

    async def _votes(self) -> None:
        """A poll counts everybody who voted once."""
        for post in self._ledger.posts.values():
            if not post.there or "poll" not in post.sent or (post.text or "said anew").find("said anew") >= 0:
                continue
            states = [
                state for (verb, _, mark), state in self._ledger.marks.items() if (verb, mark) == ("vote", post.mark)
            ]
            author = self._community.by_handle[post.author]
            answer = await author.ask("audit", "GET", f"/api/v1/statuses/{post.id}")
            if answer.is_yes:
                count = answer.body["poll"]["votes_count"]
                if not states.count(True) <= count <= len(states):
                    self._say("a count is wrong", f"poll {post.mark}: {count} votes, {states} were given")

    async def _records(self) -> None:
        for (what, name), state in self._ledger.things.items():
            path, _, field = what.partition(" by ")
            if field:
                answer = await self._staff.ask("audit", "GET", f"{path}?{field}={name}")
                found = [one for one in answer.body["results"] if one[field] == name] if answer.is_yes else []
                if len(found) > 1 or (state and not found) or (state is False and found):
                    self._say("lost or doubled", f"{path} {name}: {len(found)} times, {state}")
        for name, state in self._staff.signed_up.items():
            answer = await self._staff.ask("audit", "GET", f"/core/users/?username={name}")
            found = answer.body["results"] if answer.is_yes else []
            if len(found) > 1 or (state and not found) or (state is False and found):
                self._say("lost or doubled", f"{name} who signed up: {len(found)} times, {state}")
        mails = Counter(str(one["To"]) for one in self._stage.here.town.mails())
        for name, state in self._staff.signed_up.items():
            count = sum(count for to, count in mails.items() if f"{name}@" in to)
            if state and not count:
                self._say("lost", f"the mail to {name} who signed up")
            if count > 1:
                self._ledger.figures["mails doubled"] = self._ledger.figures.get("mails doubled", 0) + 1

    # Kith's own commands

    async def look_outside(self, backups: Path | None) -> None:
        town = self._stage.here.town
        words: list[tuple[str, ...]] = [("check", "--json")]
        if backups is not None:
            words.append(("backup", "verify", str(backups)))
        for one in words:
            try:
                said = await town.kith(*one)
                if one[0] == "check":
                    self._ledger.figures["kith check"] = json.loads(said)
            except AssertionError as error:
                self._say("a command failed", str(error)[-1500:])
        for site in self._stage.sites:
            if site.postgres is None:
                self._look_at_sqlite(site.name, site.disk.folder / "kith.sqlite3")

    def _look_at_sqlite(self, name: str, file: Path) -> None:
        connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        try:
            for pragma in ("integrity_check", "foreign_key_check"):
                rows = connection.execute(f"PRAGMA {pragma}").fetchall()
                if rows not in ([("ok",)], []):
                    self._say("the database is broken", f"{name}: {pragma}: {rows[:5]}")
        finally:
            connection.close()
