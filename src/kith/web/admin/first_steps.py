"""The first steps after the set-up: each looks for itself whether it is done.

Of backups that are made by other means, somebody has to say so.
"""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.backups import store as backups
from kith.base.backups.tables import BACKUP
from kith.base.exchange import Exchange
from kith.base.settings import Settings
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.translation import translatable

__all__ = ["FirstStep", "first_steps"]

LATELY = timedelta(days=14)


class FirstStep(msgspec.Struct, frozen=True):
    words: str
    how: str
    is_done: bool
    address: str = ""
    setting: str = ""  # where the server cannot see it for itself: what is set when somebody says so
    promise: str = ""


async def has_backup(work: Work) -> bool:
    """Whether a backup has succeeded lately."""
    last = await backups.last_success(work.db, BACKUP, work.now)
    return last is not None and work.now - last.started_at < LATELY


async def first_steps(exchange: Exchange) -> list[FirstStep]:
    work = exchange.work
    settings = work.settings
    apps = await own_api.ask(exchange, "/api/v2/core/applications/", limit=1)
    many = await identity.has_members(work, 2)
    return [
        FirstStep(
            translatable("Give the community a name"),
            translatable("Members see it on every page, and in their apps."),
            identity.brands.known(exchange).title != Settings().title,
            "/admin/settings",
        ),
        FirstStep(
            translatable("Let the server send e-mail"),
            translatable("Set KITH_SMTP, so that people can confirm addresses and get back in."),
            bool(settings.smtp),
        ),
        FirstStep(
            translatable("Decide who can sign up"),
            translatable("At present anybody can. Let the team approve, or only those come in who were invited."),
            many or settings.registrations != "open",
            "/admin/settings#joining",
        ),
        FirstStep(
            translatable("Connect a first application"),
            translatable("People then sign in there with their account here."),
            apps["count"] > 0,
            "/admin/applications/new",
        ),
        FirstStep(
            translatable("Back up database, keys and media"),
            translatable(
                "Set KITH_BACKUP and KITH_BACKUP_SCHEDULE, so that the server backs itself up every day. Without its "
                "keys, nobody can read what is stored encrypted."
            ),
            settings.backups or await has_backup(work),
            "/admin/backups",
            setting="" if "backups" in work.operator_settings.given else "backups",
            promise=translatable("I make backups of it"),
        ),
    ]
