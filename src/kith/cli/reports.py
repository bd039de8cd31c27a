from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kith.base.errors import NotFound
from kith.base.paging import Cursor
from kith.cli.inputs import WORDS, user_called
from kith.cli.running import as_json, house, reading, run, say
from kith.cli.showing import show_record, show_rows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from kith.base.work import Work
    from kith.social.accounts.tables import Account
    from kith.social.ids import AccountId
    from kith.social.moderation.tables import Report

_id = click.argument("report_id", type=click.IntRange(1, (1 << 63) - 1))


@click.group()
def reports() -> None:
    """See reports, and deal with them."""


async def _names(work: Work, found: Sequence[Report]) -> Mapping[AccountId, Account]:
    from kith.social.accounts import store  # noqa: PLC0415 - loaded when first used

    ids = [id for one in found for id in (one.account_id, one.target_id, one.assigned_id) if id is not None]
    return await store.find_all(work.db, list(dict.fromkeys(ids)))


def _record(one: Report, people: Mapping[AccountId, Account]) -> dict[str, Any]:
    def name(id: AccountId | None) -> str | None:
        return people[id].acct if id is not None and id in people else None

    return {
        "id": str(one.id),
        "by": name(one.account_id),
        "about": name(one.target_id),
        "category": one.category,
        "comment": one.comment,
        "posts": one.status_ids,
        "rules": one.rule_ids,
        "assigned to": name(one.assigned_id),
        "resolved": one.action_taken_at,
        "since": one.created_at,
    }


@reports.command("list")
@click.option("--all", "everything", is_flag=True, help="Also those that were resolved.")
@click.option("--limit", default=100, type=click.IntRange(1, 10_000), show_default=True, help="At most so many.")
@as_json
def list_reports(*, everything: bool, limit: int, as_json: bool) -> None:
    """Open reports, the newest first."""
    from kith.social.moderation import store  # noqa: PLC0415 - loaded when first used

    async def read() -> list[dict[str, Any]]:
        async with reading() as work:
            resolved = None if everything else False
            found = await store.page_of_reports(work.db, Cursor(limit=limit), resolved=resolved)
            people = await _names(work, found)
            return [_record(one, people) for one in found]

    found = run(read())
    if as_json:
        say(found)
    else:
        heads = ["id", "about", "by", "category", "assigned to", "since", "comment"]
        show_rows(heads, [[one[head] for head in heads] for one in found], nothing="No reports.")


@reports.command()
@_id
@as_json
def show(*, report_id: int, as_json: bool) -> None:
    """All there is to know about a report."""

    async def read() -> dict[str, Any]:
        async with reading() as work:
            found = await _report_called(work, report_id)
            return _record(found, await _names(work, [found]))

    record = run(read())
    say(record) if as_json else show_record(record)


async def _report_called(work: Work, report_id: int) -> Report:
    from kith.social.moderation import reports as service  # noqa: PLC0415 - loaded when first used

    try:
        return await service.find(work, report_id)
    except NotFound as error:
        raise NotFound(f"there is no report {report_id}; see `kith reports list --all`") from error


async def _changed(report_id: int, change: Callable[[Work, Report], Awaitable[object]]) -> None:
    async with house() as opened, opened.works.begin() as work:
        await change(work, await _report_called(work, report_id))


@reports.command()
@_id
def resolve(*, report_id: int) -> None:
    """Say that a report was dealt with."""
    from kith.social.moderation import reports as service  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    run(_changed(report_id, lambda work, one: service.resolve(work, OPERATOR, one)))
    click.echo(f"Report {report_id} is resolved.")


@reports.command()
@_id
def reopen(*, report_id: int) -> None:
    """Open a report again."""
    from kith.social.moderation import reports as service  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    run(_changed(report_id, lambda work, one: service.reopen(work, OPERATOR, one)))
    click.echo(f"Report {report_id} is open.")


@reports.command()
@_id
@click.argument("name", type=WORDS)
def assign(*, report_id: int, name: str) -> None:
    """Have NAME, of the team, deal with a report."""
    from kith.social.accounts import user_accounts  # noqa: PLC0415 - loaded when first used
    from kith.social.moderation import reports as service  # noqa: PLC0415
    from kith.social.staff import OPERATOR, role_of  # noqa: PLC0415

    async def give(work: Work, one: Report) -> None:
        account = await user_accounts.of_user(work, (await user_called(work.db, name)).id)
        role = await role_of(work, account)
        if role is None or not role.allows("manage_reports"):
            raise NotFound(f"{name} is not of the team that deals with reports")
        await service.assign(work, OPERATOR, one, account.id)

    run(_changed(report_id, give))
    click.echo(f"Report {report_id} is assigned to {name}.")


@reports.command()
@_id
def unassign(*, report_id: int) -> None:
    """Have nobody in particular deal with a report."""
    from kith.social.moderation import reports as service  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    run(_changed(report_id, lambda work, one: service.assign(work, OPERATOR, one, None)))
    click.echo(f"Report {report_id} is assigned to nobody.")
