from __future__ import annotations

from datetime import datetime

import click

from kith.base.errors import Invalid, NotFound
from kith.base.jobs import store
from kith.base.jobs.tables import DEAD, READY, RUNNING, Job
from kith.cli.inputs import WORDS
from kith.cli.running import as_json, house, reading, run, say
from kith.cli.showing import show_rows

STATES = {"ready": READY, "running": RUNNING, "dead": DEAD}
_WORDS = {number: word for word, number in STATES.items()}
_ID = click.IntRange(0, 2**63 - 1)


@click.group()
def jobs() -> None:
    """List background jobs and retry failed ones."""


@jobs.command("list")
@click.option("--state", type=click.Choice(list(STATES)), help="Only jobs in this state.")
@click.option("--kind", type=WORDS, help="Only jobs of this kind.")
@click.option(
    "--limit", default=50, type=click.IntRange(1, 1_000_000), show_default=True, help="Maximum number of jobs."
)
@as_json
def list_jobs(*, state: str | None, kind: str | None, limit: int, as_json: bool) -> None:
    """List jobs, oldest first, each with the last line of its last error."""

    async def read() -> list[Job]:
        async with reading() as work:
            return await store.listed(
                work.db, state=None if state is None else STATES[state], kind=kind, most=limit + 1
            )

    found = run(read())
    if as_json:
        say([_record(job) for job in found[:limit]])
    else:
        heads = ["id", "kind", "state", "attempts", "runs at", "created", "last error"]
        show_rows(heads, [_row(job) for job in found[:limit]], nothing="No jobs.")
    if len(found) > limit:
        click.echo(f"kith: there are more than {limit}; use --limit to see more", err=True)


@jobs.command()
@as_json
def counts(*, as_json: bool) -> None:
    """Show how many jobs of each kind are in each state, and how long the oldest one has been waiting."""

    async def read() -> list[tuple[str, int, int, datetime | None]]:
        async with reading() as work:
            return await store.counts(work.db)

    found = [(kind, _WORDS[state], count, since) for kind, state, count, since in run(read())]
    if as_json:
        names = ("kind", "state", "count", "oldest_run_at")
        say([dict(zip(names, row, strict=True)) for row in found])
    else:
        show_rows(["kind", "state", "count", "oldest"], found, nothing="No jobs.")


@jobs.command()
@click.argument("id", type=_ID, required=False)
@click.option("--all", "everything", is_flag=True, help="All dead jobs.")
@as_json
def retry(*, id: int | None, everything: bool, as_json: bool) -> None:
    """Retry the dead job ID, or all dead jobs with --all."""
    if (id is None) != everything:
        raise Invalid("give the ID of one job, or --all")

    async def revive() -> int:
        async with house() as opened, opened.works.begin() as work:
            return await store.retry(work.db, id, work.now)

    count = run(revive())
    if id is not None and not count:
        raise _no_dead(id)
    if as_json:
        say({"retried": count})
    else:
        click.echo(f"{count} {'job' if count == 1 else 'jobs'} will be retried.")


@jobs.command()
@click.argument("id", type=_ID)
@as_json
def discard(*, id: int, as_json: bool) -> None:
    """Delete the dead job ID without running it."""

    async def forget() -> int:
        async with house() as opened, opened.works.begin() as work:
            return await store.discard(work.db, id)

    count = run(forget())
    if not count:
        raise _no_dead(id)
    if as_json:
        say({"discarded": count})
    else:
        click.echo(f"Deleted job {id}.")


def _no_dead(id: int) -> NotFound:
    return NotFound(f"there is no dead job {id}; see `kith jobs list --state dead`")


def _record(job: Job) -> dict[str, object]:
    """The id as text: it is longer than the numbers of many JSON readers."""
    return {
        "id": str(job.id),
        "kind": job.kind,
        "state": _WORDS[job.state],
        "attempts": job.attempts,
        "deaths": job.deaths,
        "run_at": job.run_at,
        "created_at": job.created_at,
        "held_until": job.held_until,
        "key": job.key,
        "payload": job.payload,
        "last_error": _last_line(job.error),
        "error": job.error,
    }


def _row(job: Job) -> list[object]:
    return [
        job.id,
        job.kind,
        _WORDS[job.state],
        job.attempts,
        job.run_at,
        job.created_at,
        _last_line(job.error),
    ]


def _last_line(error: str | None) -> str | None:
    lines = (error or "").strip().splitlines()
    return lines[-1] if lines else None
