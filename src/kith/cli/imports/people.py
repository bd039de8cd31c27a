"""`kith import csv`: people from a table."""

from __future__ import annotations

import csv
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import click
from sqlalchemy import select

from kith.base.db import any_of, query
from kith.base.errors import Conflict, Invalid, Problem
from kith.base.work import Work, Works
from kith.cli.failures import words_for
from kith.cli.imports.people_file import PersonInTable, read_people
from kith.cli.imports.progress import Progress
from kith.cli.imports.reports import end
from kith.cli.imports.rows import Rows
from kith.cli.imports.running import Batch, RunningImport, RunStep, open_run, source_of
from kith.cli.inputs import COMMAND_LINE
from kith.cli.running import as_json, house, run
from kith.identity.authority.ways_in import find_ways_in
from kith.identity.group_grants import grants_of
from kith.identity.groups import store as memberships
from kith.identity.groups.names import is_like_another
from kith.identity.groups.tables import groups
from kith.identity.recovery import offer
from kith.identity.users import service, store
from kith.identity.users.names import username_key
from kith.identity.users.passwords import Passwords
from kith.identity.users.tables import User

__all__ = ["people"]

_named = query(select(groups.c.name, groups.c.group_uuid).where(any_of(groups.c.name, "names")), tuple)


@click.command("csv")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--confirmed", is_flag=True, help="The e-mail addresses are known to be right.")
@click.option("--make-groups", is_flag=True, help="Make groups that are not there yet.")
@click.option("--links", type=click.Path(path_type=Path), help="Write a sign-in link for everybody without a password.")
@click.option("--days", default=7, type=click.IntRange(1, 365), show_default=True, help="How long links are valid.")
@click.option("--with-rights", is_flag=True, help="Also put people into groups that let them do more here.")
@click.option("--force", is_flag=True, help="Take passwords even if the password policies do not accept them.")
@click.option("--rehearse", is_flag=True, help="Read and check everything, write nothing.")
@click.option("--report", type=click.Path(path_type=Path), help="The file for people who are left out (CSV).")
@as_json
def people(
    *,
    file: Path,
    confirmed: bool,
    make_groups: bool,
    links: Path | None,
    days: int,
    with_rights: bool,
    force: bool,
    rehearse: bool,
    report: Path | None,
    as_json: bool,
) -> None:
    """Make an account for everybody in FILE.

    The first line names the columns: username, and any of email, name, groups (with | between them) and password.
    Groups that give rights on this server are left out, unless --with-rights says that the table may give them. Nobody
    is written to. Who was made before it was interrupted is not made twice.
    """
    importing = PeopleImport(
        read_people(file),
        confirmed=confirmed,
        make_groups=make_groups,
        minutes=days * 1440,
        with_rights=with_rights,
        force=force,
    )
    run(_import(importing, file, links, rehearse=rehearse, report=report, as_json=as_json))


async def _import(
    people: PeopleImport, file: Path, links: Path | None, *, rehearse: bool, report: Path | None, as_json: bool
) -> None:
    with Progress() as progress:
        progress.begin("opening", None)
        async with house() as opened:
            progress.end()
            if links is not None and not rehearse:
                people.write_links_to(links)
            async with open_run(opened.works, "csv", source_of(file), {}, progress, rehearse=rehearse) as importing:
                await importing.do(people.step(opened.works, importing, opened.find(Passwords)))
            progress.stop()
            await end(opened, importing, report, as_json=as_json)


class PeopleImport:
    def __init__(
        self,
        lines: list[PersonInTable],
        *,
        confirmed: bool,
        make_groups: bool,
        minutes: int,
        with_rights: bool,
        force: bool,
    ) -> None:
        self._lines = lines
        self._confirmed = confirmed
        self._make_groups = make_groups
        self._minutes = minutes
        self._with_rights = with_rights
        self._force = force
        self._mighty: dict[str, bool] = {}  # by the names of groups: whether they give rights
        self._links: Path | None = None
        self._linked: set[str] = set()  # who has a link in that file already
        self._seen: set[str] = set()

    def write_links_to(self, path: Path) -> None:
        """For the owner's eyes only, also where the file is there: whoever has such a link comes in."""
        self._links = path
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                self._linked = {username_key(row[0]) for row in csv.reader(file) if row}
        handle = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
        try:
            os.fchmod(handle, 0o600)
        finally:
            os.close(handle)

    def step(self, works: Works, importing: RunningImport, passwords: Passwords) -> RunStep[PersonInTable]:
        """One at a time: a password is hashed before anything is written."""

        def batches(place: int) -> Iterator[tuple[int, list[PersonInTable]]]:
            self._seen |= {username_key(one.username) for one in self._lines[:place]}
            for number, line in enumerate(self._lines[place:], place + 1):
                yield number, [line]

        async def take(batch: Batch[PersonInTable]) -> None:
            [line] = batch.items
            try:
                await self._take(works, importing, passwords, batch, line)
            except Problem as problem:
                batch.leave(f"line {line.line}: {line.username}", words_for(problem) or problem.message)
            else:
                batch.taken += 1

        return RunStep("people", len(self._lines), batches, take)

    async def _take(
        self,
        works: Works,
        importing: RunningImport,
        passwords: Passwords,
        batch: Batch[PersonInTable],
        line: PersonInTable,
    ) -> None:
        key = username_key(line.username)
        if key in self._seen:
            raise Invalid("the same username stands in an earlier line")
        self._seen.add(key)
        work = works.open()
        try:
            user = await self._find_made(work, importing, line)
            if user is None:
                user = await self._make(work, passwords, batch, line)
            link = await self._offer(work, line, user)
            if not batch.is_rehearsed:
                await work.commit()
                self._write(line, link)
        finally:
            await work.rollback()

    async def _find_made(self, work: Work, importing: RunningImport, line: PersonInTable) -> User | None:
        """By this run, just before it was interrupted."""
        found = await store.find_typed(work.db, line.username)
        if found is None or username_key(found.username) != username_key(line.username):
            return None
        if found.created_at < importing.row.started_at or found.email != line.email:
            raise Conflict("somebody has that username already")
        return found

    async def _make(self, work: Work, passwords: Passwords, batch: Batch[PersonInTable], line: PersonInTable) -> User:
        new = service.NewUser(
            username=line.username,
            name=line.name,
            email=line.email,
            password=line.password,
            confirmed=self._confirmed and bool(line.email),
            enters=not line.email,
        )
        user = await service.create(work, passwords, new, by_name=COMMAND_LINE, judged=self._force)
        await self._join(work, batch, line, user)
        return user

    async def _offer(self, work: Work, line: PersonInTable, user: User) -> str | None:
        """Another one for whoever was made just before a run was interrupted, and stands not in the file yet."""
        if self._links is None or line.password is not None or username_key(line.username) in self._linked:
            return None
        return await offer(work, user, minutes=self._minutes, by_name=COMMAND_LINE)

    async def _join(self, work: Work, batch: Batch[PersonInTable], line: PersonInTable, user: User) -> None:
        if not line.groups:
            return
        known: dict[str, str] = dict(await work.db.all(_named, names=line.groups))
        for name in dict.fromkeys(line.groups):
            if await self._gives_rights(work, name, known.get(name)):
                words = f"the group {name} gives rights on this server: it takes --with-rights to put anybody into it"
                batch.leave(f"line {line.line}: {line.username}", words, step="groups")
                continue
            may_make = name not in known and self._make_groups and len(name) <= 80
            if may_make and not await is_like_another(work.db, name):
                known[name] = str(uuid.uuid4())
                rows = Rows()
                new = {"group_uuid": known[name], "name": name, "is_superuser": False, "attributes": {}}
                rows.add("identity_groups", **new, created_at=work.now, updated_at=work.now)
                await rows.write(work.db)
            if name in known:
                await memberships.join(work.db, known[name], user.id)
            else:
                batch.leave(f"line {line.line}: {line.username}", f"there is no group called {name}", step="groups")

    async def _gives_rights(self, work: Work, name: str, group_uuid: str | None) -> bool:
        """Whether its members may do more here, or it decides how people sign in: whoever wrote the table may not say
        who is in it."""
        if self._with_rights:
            return False
        if name not in self._mighty:
            granted, ways = await grants_of(work.db, [group_uuid] if group_uuid else []), await find_ways_in(work.db)
            decides = ways.names_group(name) or not ways.groups.isdisjoint(granted.groups)
            self._mighty[name] = decides or granted.exceeds(frozenset())
        return self._mighty[name]

    def _write(self, line: PersonInTable, link: str | None) -> None:
        if self._links is not None and link is not None:
            with self._links.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file).writerow((line.username, line.email, link))
