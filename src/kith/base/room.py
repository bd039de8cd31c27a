"""What every other room stands on."""

from __future__ import annotations

from datetime import timedelta

from kith import __version__
from kith.base.backups import tasks as backups
from kith.base.blobs import Blobs, blobs
from kith.base.caches import UntilWritten
from kith.base.db.sqlite import SQLite
from kith.base.http import Outgoing
from kith.base.http.names import Names
from kith.base.jobs import Periodic
from kith.base.keys import Keys
from kith.base.limits import Limiter
from kith.base.mail import Mailer, mailer
from kith.base.mailing import SEND_MAIL
from kith.base.rooms import Part, Room
from kith.base.stored_settings import StoredSettings
from kith.base.watchdog import Watchdog
from kith.base.work import Works


def _outgoing(works: Works) -> Outgoing:
    settings = works.settings
    return Outgoing(f"Kith/{__version__} (+{settings.base_url}/)", private_hosts=settings.private_hosts)


def _mailer(works: Works) -> Mailer:
    settings = works.settings
    return mailer(settings.smtp or None, settings.data / "mail", settings.sender)


def _blobs(works: Works) -> Blobs:
    settings, database = works.settings, works.database

    def admit() -> None:
        if isinstance(database, SQLite) and database.reserve is not None:
            database.reserve.admit()

    return blobs(
        settings.media,
        settings.data / "media",
        access_key=settings.media_access_key,
        secret_key=settings.media_secret_key,
        admit=admit,
    )


ROOM = Room(
    name="base",
    jobs=(SEND_MAIL, backups.LOOK, backups.RUN),
    periodic=(Periodic(kind=backups.LOOK, every=timedelta(minutes=1), payload=backups.LookForDue()),),
    parts=(
        Part(StoredSettings, StoredSettings),
        Part(Keys, lambda works: Keys(works.settings.data / "keys")),
        Part(Limiter, lambda works: Limiter(works.database, enabled=works.settings.rate_limits)),
        Part(UntilWritten, lambda works: UntilWritten("until_written", works.database)),
        Part(Names, lambda _: Names()),
        Part(Outgoing, _outgoing, close=Outgoing.close),
        Part(Mailer, _mailer),
        Part(Blobs, _blobs),
        Part(Watchdog, lambda _: Watchdog()),
    ),
)
