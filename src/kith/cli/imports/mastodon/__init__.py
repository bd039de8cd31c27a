"""`kith import mastodon`: a whole Mastodon server moves in, and the domain goes on."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import click
from sqlalchemy import select

from kith.base.blobs import Blobs, blobs
from kith.base.db import query
from kith.base.errors import Conflict, Invalid
from kith.base.settings import Settings
from kith.cli.imports.mastodon.community import choose_roles
from kith.cli.imports.mastodon.move import Move
from kith.cli.imports.mastodon.rails import Secrets
from kith.cli.imports.mastodon.sources import MastodonSource, source_for
from kith.cli.imports.mastodon.staging import Staging
from kith.cli.imports.mastodon.steps import steps
from kith.cli.imports.mastodon.touched import choose
from kith.cli.imports.progress import Progress
from kith.cli.imports.reports import end
from kith.cli.imports.running import RunningImport, open_run
from kith.cli.running import Opened, as_json, house, run
from kith.identity.users.names import username_key
from kith.identity.users.tables import users
from kith.social.accounts.tables import accounts
from kith.social.statuses.tables import statuses

__all__ = ["mastodon"]

_posts = query(select(statuses.c.id).limit(1), int)
_strangers = query(select(accounts.c.id).where(accounts.c.domain != "").limit(1), int)
_names = query(select(users.c.username_key), str)
_account_names = query(select(accounts.c.username_key).where(accounts.c.domain == ""), str)


@click.command()
@click.argument("source")
@click.option("--media", help="Where its files are: the folder public/system, or s3://bucket/prefix?endpoint=...")
@click.option("--all", "everything", is_flag=True, help="Everything it knows of other servers, not only what mattered.")
@click.option("--recent-days", default=30, show_default=True, help="How old posts of followed people elsewhere may be.")
@click.option("--rehearse", is_flag=True, help="Read and check everything, write nothing.")
@click.option("--report", type=click.Path(path_type=Path), help="The file for rows that are left out (CSV).")
@as_json
def mastodon(
    *,
    source: str,
    media: str | None,
    everything: bool,
    recent_days: int,
    rehearse: bool,
    report: Path | None,
    as_json: bool,
) -> None:
    """Move a Mastodon server in: people, posts, follows, apps, media and what the team has decided.

    SOURCE is a plain dump of its PostgreSQL database (also .gz), or the address of the database, which is only read.
    Stop both servers first. If it was interrupted, the same command goes on where it stopped.

    Keys of the old server come from the environment: OTP_SECRET or ACTIVE_RECORD_ENCRYPTION_PRIMARY_KEY and
    ACTIVE_RECORD_ENCRYPTION_KEY_DERIVATION_SALT for authenticator apps, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
    for files in a bucket.
    """
    if not 0 <= recent_days <= 10_000:
        raise Invalid("--recent-days is a number of days between 0 and 10000")
    options = {"all": everything, "recent_days": recent_days}
    run(_import(source_for(source), media, options, rehearse=rehearse, report=report, as_json=as_json))


async def _import(
    source: MastodonSource,
    media: str | None,
    options: dict[str, int],
    *,
    rehearse: bool,
    report: Path | None,
    as_json: bool,
) -> None:
    files = _files(media)
    with Progress() as progress:
        progress.begin("opening", None)
        async with house() as opened:
            progress.end()
            settings = opened.works.settings
            folder = settings.data / "imports"
            async with open_run(
                opened.works, "mastodon", source.name, options, progress, rehearse=rehearse
            ) as importing:
                staging = Staging(folder / f"mastodon-{importing.row.id}.sqlite", lasts=not rehearse)
                try:
                    await _stage(staging, source, importing, progress)
                    if not importing.has_begun:
                        await _check_fresh(opened, staging, settings)
                    await _take(opened, staging, importing, files)
                except BaseException:
                    if rehearse:
                        staging.delete()
                    raise
                more = _not_needed(staging)
                staging.delete()
            progress.stop()
            await end(opened, importing, report, as_json=as_json, more=more)


async def _stage(staging: Staging, source: MastodonSource, importing: RunningImport, progress: Progress) -> None:
    if not staging.is_whole:
        progress.begin_reading(source.size)
        await staging.fill(source, lambda _table, size: progress.read(size))
        progress.end()
    options = importing.row.options
    await asyncio.to_thread(
        choose,
        staging,
        everything=bool(options["all"]),
        recent_days=int(options["recent_days"]),
        now=importing.row.started_at,
    )


async def _check_fresh(opened: Opened, staging: Staging, settings: Settings) -> None:
    """Numbers and names must not meet: a server moves into one that is still empty."""
    async with opened.works.begin() as work:
        if await work.db.all(_posts) or await work.db.all(_strangers):
            raise Conflict("there are posts or people of other servers here already: move into a new, empty server")
        taken = set(await work.db.all(_names)) | set(await work.db.all(_account_names))
    for row in staging.all("SELECT username FROM accounts WHERE domain IS NULL AND id > 0"):
        if username_key(row["username"]) in taken:
            raise Conflict(f"there is somebody called {row['username']} here already: rename or delete them first")
    uri = staging.one("SELECT uri FROM statuses WHERE uri LIKE ? AND local = 't' LIMIT 1", "http%/statuses/%")
    if uri is not None and not uri.startswith(f"{settings.base_url}/"):
        there = "/".join(uri.split("/")[:3])
        raise Conflict(f"posts of that server begin with {there}, but KITH_BASE_URL is {settings.base_url}")


async def _take(opened: Opened, staging: Staging, importing: RunningImport, files: Blobs | None) -> None:
    move = Move(
        staging=staging,
        settings=opened.works.settings,
        secrets=_secrets(),
        media=files,
        started_at=importing.row.started_at,
    )
    async with importing.work() as work:
        await choose_roles(move, work)
    for one in steps(move):
        await importing.do(one)


def _secrets() -> Secrets:
    return Secrets(
        otp_secret=os.environ.get("OTP_SECRET", ""),
        primary_key=os.environ.get("ACTIVE_RECORD_ENCRYPTION_PRIMARY_KEY", ""),
        derivation_salt=os.environ.get("ACTIVE_RECORD_ENCRYPTION_KEY_DERIVATION_SALT", ""),
    )


def _files(media: str | None) -> Blobs | None:
    if media is None:
        return None
    if media.startswith("s3://"):
        access_key = os.environ.get("AWS_ACCESS_KEY_ID", "")
        secret_key = os.environ.get("AWS_SECRET_ACCESS_KEY", "")
        return blobs(media, Path(), access_key=access_key, secret_key=secret_key)
    folder = Path(media)
    if not folder.is_dir():
        raise Invalid(f"{folder} is no folder")
    return blobs("", folder)


def _not_needed(staging: Staging) -> dict[str, int]:
    """What nobody here has ever had to do with is counted, not listed."""
    return {
        f"{what} of other servers were not needed": staging.one(
            f"SELECT (SELECT count(*) FROM {table} WHERE id > 0) - (SELECT count(*) FROM kept_{table})"
        )
        for what, table in (("accounts", "accounts"), ("posts", "statuses"))
    }
