"""Six weeks of the example community, told from the first day to this minute."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Awaitable, Callable
from datetime import date, datetime, timedelta
from typing import Any

from kith.cli.demo.cast import CAST, MEMBER, MODERATOR, OWNER, WAITING, DemoPerson
from kith.cli.demo.members import DemoMember, Doors, new_password
from kith.cli.demo.past import Past
from kith.cli.demo.talk import EVERYDAY, TALK, TODAY, DemoPost
from kith.social.statuses.tasks import END_POLLS, EndPolls
from kith.social.trends.tasks import REFRESH, RefreshTrends
from kith.web.levels.tasks import NOTE, NoteLevels

__all__ = ["LENGTH", "Story"]

LENGTH = timedelta(days=42)
SETTLE = timedelta(minutes=60)
_EXAMPLE = random.Random  # the same story every time; nothing here is a secret


class Story:
    """What happens is put on a list with its moment, and then done in that order."""

    def __init__(self, past: Past, ends_at: datetime) -> None:
        self.past = past
        self.ends_at = ends_at
        self.luck = _EXAMPLE(14)
        self.members: dict[str, DemoMember] = {}
        self.posts: dict[str, dict[str, Any]] = {}
        self._events: list[tuple[datetime, int, Callable[[], Awaitable[None]]]] = []
        self._order = itertools.count()
        self._settled_at = past.now
        self._noted_on: date | None = None  # the last day of which it is known how full the server was
        self._doors: Doors | None = None

    # When

    def ago(self, *, days: float = 0, minutes: float = 0) -> datetime:
        return self.ends_at - timedelta(days=days, minutes=minutes)

    def plan(self, at: datetime, do: Callable[[], Awaitable[None]]) -> None:
        """What would come after the end is done at the end."""
        heapq.heappush(self._events, (min(at, self.ends_at), next(self._order), do))

    async def tell(self) -> None:
        while self._events:
            at, _, do = heapq.heappop(self._events)
            if at - self._settled_at > SETTLE or at.date() != self._settled_at.date():
                await self._settle()
                self._settled_at = at
            self.past.now = max(self.past.now, at)
            await do()
        self.past.now = self.ends_at
        await self._settle()

    async def _settle(self) -> None:
        """What a worker does by the clock, and nobody else does here: polls end, levels are noted, talk is reckoned.

        Before midnight too, for what many say counts by the day.
        """
        async with self.past.house.works.begin() as work:
            work.enqueue(END_POLLS, EndPolls(), key="periodic")
            if self._noted_on != self.past.now.date():
                self._noted_on = self.past.now.date()
                work.enqueue(NOTE, NoteLevels(), key="periodic")
            if self.past.now > self.ago(minutes=240):
                work.enqueue(REFRESH, RefreshTrends(), key="periodic")
        await self.past.settle()

    # Who

    async def begin(self, setup_token: str) -> None:
        """The first day: the owner comes through the set-up link."""
        self._doors = doors = await Doors.open(self.past)
        for number, person in enumerate(CAST):
            self.members[person.username] = DemoMember(doors, person, number)
        owner = self.members[OWNER]
        first = {"username": OWNER, "name": owner.person.name, "email": f"{OWNER}@example.org"}
        await owner.app.call("POST", f"/setup/{setup_token}", json=first | {"password": owner.password})
        await self.past.settle()
        await owner.arrive(is_team=True)

    @property
    def owner(self) -> DemoMember:
        return self.members[OWNER]

    @property
    def moderator(self) -> DemoMember:
        return self.members[MODERATOR]

    @property
    def member(self) -> DemoMember:
        return self.members[MEMBER]

    def here(self) -> list[DemoMember]:
        """Whoever has come by now."""
        return [one for one in self.members.values() if one.id]

    def plan_people(self) -> None:
        for person in CAST:
            if person.username != OWNER:
                self._plan_arrival(person)
        for hopeful in WAITING:
            self.plan(self.ago(minutes=60 * hopeful.hours), self._asking(hopeful.username, hopeful.reason))
        for day in range(41, -1, -1):
            self._plan_day(day)

    def _plan_arrival(self, person: DemoPerson) -> None:
        at = self.ago(days=person.days + 0.2)

        async def ask() -> None:
            reason = f"I am {person.name}. {person.bio}"
            await self._ask(person.username, self.members[person.username].password, reason)

        async def arrive() -> None:
            await self._approve(person.username)
            member = self.members[person.username]
            await member.arrive()
            await self._meet(member)

        self.plan(at, ask)
        self.plan(at + timedelta(hours=3), arrive)

    def _asking(self, username: str, reason: str) -> Callable[[], Awaitable[None]]:
        async def ask() -> None:
            await self._ask(username, new_password(), reason)

        return ask

    async def _ask(self, username: str, password: str, reason: str) -> None:
        address = f"198.51.100.{self.luck.randrange(2, 250)}"
        if username in self.members:
            address = self.members[username].address
        assert self._doors is not None  # noqa: S101 - `begin` comes first
        await self._doors.ask_to_join(username, password, address, reason)

    async def _approve(self, username: str) -> None:
        await self.past.settle()
        waiting = await self.owner.app.call("GET", "/api/v2/admin/accounts?status=pending")
        [found] = [one for one in waiting if one["username"] == username]
        await self.owner.app.call("POST", f"/api/v1/admin/accounts/{found['id']}/approve")
        await self.past.settle()

    async def _meet(self, new: DemoMember) -> None:
        """They follow some who are here, and some follow back."""
        others = [one for one in self.here() if one is not new and not one.person.is_locked and one.name != "bargains"]
        for other in self.luck.sample(others, min(len(others), 9)):
            await new.to(other, "follow")
        if new.name == "bargains":
            return
        curious = self.luck.sample(others, min(len(others), 8))
        if new is not self.member and self.member.id and self.member not in curious:
            curious.append(self.member)
        for other in curious:
            if not new.person.is_locked:
                await other.to(new, "follow")

    def _plan_day(self, day: int) -> None:
        """Who looks in, who signs in, and who is tried from outside."""
        for name in self.members:
            if self.luck.random() < self.members[name].person.eagerness * (0.4 if day % 7 in (2, 3) else 0.7):
                self.plan(self.ago(days=day + self.luck.random() * 0.6), self._visiting(name))
        for _ in range(self.luck.choice((1, 1, 2, 2, 3, 3 if day < 20 else 1))):
            name = self.luck.choice(list(self.members))
            self.plan(self.ago(days=day + self.luck.random() * 0.6), self._signing_in(name))
        if self.luck.random() < 0.3:
            name = self.luck.choice([OWNER, MODERATOR, "samir", "henrik"])
            self.plan(self.ago(days=day + self.luck.random() * 0.6), self._guessing(name))

    def _visiting(self, name: str) -> Callable[[], Awaitable[None]]:
        async def visit() -> None:
            if self.members[name].id:
                await self.members[name].look_in()

        return visit

    def _signing_in(self, name: str) -> Callable[[], Awaitable[None]]:
        async def sign_in() -> None:
            if self.members[name].id and not self.members[name].person.is_bot:
                await self.members[name].sign_in(self.luck)

        return sign_in

    def _guessing(self, name: str) -> Callable[[], Awaitable[None]]:
        async def guess() -> None:
            if self.members[name].id:
                await self.members[name].be_guessed_at(f"192.0.2.{self.luck.randrange(2, 250)}")

        return guess

    # What is said

    def plan_talk(self) -> None:
        for number, post in enumerate(TALK):
            self.plan(self.ago(days=post.ago), self._saying(post, number))
        for number, (who, ago, words) in enumerate(TODAY):
            self.plan(self.ago(days=ago), self._saying(DemoPost(who, ago, words, likes=number % 5), 200 + number))
        for number in range(60):
            who, words = EVERYDAY[number % len(EVERYDAY)]
            at = self.ago(days=40 - number * 0.66 - self.luck.random() * 0.3)
            self.plan(at, self._saying(DemoPost(who, 0, words, likes=self.luck.randrange(4)), 100 + number))

    def _saying(self, post: DemoPost, number: int) -> Callable[[], Awaitable[None]]:
        async def say() -> None:
            author = self.members[post.who]
            if not author.id:
                return  # said every day, but not before they came
            made = await author.post(**await self._written(author, post, number))
            self.posts[post.key or f"post-{number}"] = made
            if post.is_pinned:
                await author.app.call("POST", f"/api/v1/statuses/{made['id']}/pin")
            self._plan_reactions(made, post)
            self._plan_replies(made, post)

        return say

    async def _written(self, author: DemoMember, post: DemoPost, number: int) -> dict[str, Any]:
        written: dict[str, Any] = {"status": post.text, "visibility": post.visibility}
        pictures = [await author.upload(kind, words, number * 5) for kind, words in post.picture]
        if pictures:
            written["media_ids"] = pictures
        if post.warning:
            written |= {"spoiler_text": post.warning, "sensitive": True}
        if post.poll:
            written["poll"] = {"options": list(post.poll), "expires_in": post.poll_days * 86_400}
        if post.quotes:
            written["quoted_status_id"] = self.posts[post.quotes]["id"]
        return written

    def _plan_reactions(self, made: dict[str, Any], post: DemoPost) -> None:
        id, now = made["id"], self.past.now
        left = (self.ends_at - now) / timedelta(minutes=1)
        within = min(left, 60 * 20)  # nobody waits for what comes after the end
        likers = [one for one in self.here() if one.name not in (post.who, "bargains", "gardenbot")]
        for who in self.luck.sample(likers, min(post.likes, len(likers))):
            at = now + timedelta(minutes=1 + (within - 1) * self.luck.random() ** 2)
            self.plan(at, self._acting(who, f"/api/v1/statuses/{id}/favourite"))
        for name in post.boosts:
            at = now + timedelta(minutes=1 + (within - 1) * self.luck.random() ** 2)
            self.plan(at, self._acting(self.members[name], f"/api/v1/statuses/{id}/reblog"))
        if post.poll:
            voters = [one for one in self.here() if one.name != post.who]
            for who in self.luck.sample(voters, min(len(voters), 13)):
                choice = min(self.luck.randrange(len(post.poll)), self.luck.randrange(len(post.poll)))
                at = now + timedelta(minutes=within * self.luck.random())
                self.plan(at, self._acting(who, f"/api/v1/polls/{made['poll']['id']}/votes", {"choices": [choice]}))
        if post.is_edited:
            text = post.text.replace("explanation", "patient explanation")
            self.plan(now + timedelta(minutes=9), self._changing(self.members[post.who], id, text))

    def _plan_replies(self, made: dict[str, Any], post: DemoPost) -> None:
        ids, at = [made["id"]], self.past.now
        for reply in post.replies:
            left = self.ends_at - at
            at += min(timedelta(minutes=reply.minutes), left / 2)
            self.plan(at, self._replying(ids, post, reply.who, reply.text, reply.to, reply.likes))

    def _replying(
        self, ids: list[str], post: DemoPost, name: str, text: str, to: int, likes: int
    ) -> Callable[[], Awaitable[None]]:
        async def reply() -> None:
            author = self.members[name]
            if not author.id:
                ids.append(ids[-1])
                return
            answered = post.who if to == 0 else post.replies[to - 1].who
            words = text if answered == name else f"@{answered} {text}"
            made = await author.post(status=words, in_reply_to_id=ids[to], visibility=post.visibility)
            ids.append(made["id"])
            self._plan_reactions(made, DemoPost(name, 0, text, likes=likes // 2))

        return reply

    def _acting(self, who: DemoMember, path: str, sent: object = None) -> Callable[[], Awaitable[None]]:
        async def act() -> None:
            if who.id:
                await who.app.call("POST", path, json=sent)

        return act

    def _changing(self, who: DemoMember, id: str, text: str) -> Callable[[], Awaitable[None]]:
        async def change() -> None:
            await who.app.call("PUT", f"/api/v1/statuses/{id}", json={"status": text})

        return change
