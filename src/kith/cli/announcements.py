from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from kith.base.errors import NotFound
from kith.cli.inputs import WORDS
from kith.cli.running import as_json, house, reading, run, say
from kith.cli.showing import show_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from kith.social.announcements.tables import Announcement

_FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%SZ"]
_time = click.DateTime(_FORMATS)


@click.group()
def announcements() -> None:
    """Announce something to everybody here."""


@announcements.command()
@click.argument("text", type=WORDS)
@click.option("--at", "scheduled_at", type=_time, help="Publish it then (UTC), not now.")
@click.option("--starts", "starts_at", type=_time, help="When what it tells of begins (UTC).")
@click.option("--ends", "ends_at", type=_time, help="From when on it is no longer shown (UTC).")
@click.option("--all-day", is_flag=True, help="Only the dates of begin and end matter.")
@as_json
def create(*, text: str, all_day: bool, as_json: bool, **times: Any) -> None:
    """Announce TEXT."""
    from kith.social.announcements import publishing  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def make() -> Announcement:
        given = {name: _utc(at) for name, at in times.items() if at is not None}
        async with house() as opened, opened.works.begin() as work:
            return await publishing.create(
                work, OPERATOR, publishing.AnnouncementDraft(text=text, all_day=all_day, **given)
            )

    made = run(make())
    if as_json:
        say(_record(made))
    else:
        click.echo(f"{'Published' if made.published else 'Scheduled'} the announcement {made.id}.")


@announcements.command("list")
@as_json
def list_announcements(*, as_json: bool) -> None:
    """The newest announcements, also those that are not shown."""
    from kith.base.paging import Cursor  # noqa: PLC0415 - loaded when first used
    from kith.social.announcements import store  # noqa: PLC0415

    async def read() -> list[Announcement]:
        async with reading() as work:
            return await store.page(work.db, Cursor(limit=1000))

    found = run(read())
    if as_json:
        say([_record(one) for one in found])
    else:
        rows = [[one.id, one.published, one.ends_at, one.text[:80]] for one in found]
        show_rows(["id", "published", "ends", "text"], rows, nothing="No announcements.")


@contextmanager
def _said(id: int) -> Iterator[None]:
    try:
        yield
    except NotFound as error:
        raise NotFound(f"there is no announcement {id}; see `kith announcements list`") from error


@announcements.command()
@click.argument("id", type=click.IntRange(1, (1 << 63) - 1))
def delete(*, id: int) -> None:
    """Delete the announcement ID."""
    from kith.social.announcements import publishing  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def take() -> None:
        async with house() as opened, opened.works.begin() as work:
            with _said(id):
                await publishing.remove(work, OPERATOR, id)

    run(take())
    click.echo(f"Deleted the announcement {id}.")


@announcements.command("mail")
@click.argument("id", type=click.IntRange(1, (1 << 63) - 1))
def mail_to_all(*, id: int) -> None:
    """Send the published announcement ID to everybody by mail, once."""
    from kith.social.announcements import mailing  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def send() -> None:
        async with house() as opened, opened.works.begin() as work:
            with _said(id):
                await mailing.send(work, OPERATOR, id)

    run(send())
    click.echo(f"The announcement {id} is on its way to everybody.")


def _utc(at: datetime) -> datetime:
    from datetime import UTC  # noqa: PLC0415 - loaded when first used

    return at.replace(tzinfo=UTC)


def _record(one: Announcement) -> dict[str, Any]:
    from kith.social.moments import maybe  # noqa: PLC0415 - loaded when first used

    return {
        "id": str(one.id),
        "text": one.text,
        "published": one.published,
        "all_day": one.all_day,
        "starts_at": maybe(one.starts_at),
        "ends_at": maybe(one.ends_at),
        "scheduled_at": maybe(one.scheduled_at),
    }
