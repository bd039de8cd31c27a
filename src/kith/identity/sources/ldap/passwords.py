"""Passwords of people who come from a directory: tried there by a bind, and written back."""

from __future__ import annotations

import structlog

from kith.base.counted_log import log_counted
from kith.base.errors import Complaint, Invalid
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.security_stamp import stamp_of, still_counts
from kith.identity.sources import store
from kith.identity.sources.ldap.directory import Directories, DirectoryFailed, is_password, open_directory
from kith.identity.sources.ldap.settings import DirectorySettings, DirectorySource, find_directory
from kith.identity.users import store as users
from kith.identity.users.passwords import MOST_CHARACTERS, Passwords
from kith.identity.users.tables import User

_log = structlog.get_logger()
REFUSED = (
    "Your organisation's directory did not accept this password. It may be too short, or too much like an old one."
)
AWAY = "Your organisation's directory cannot be reached at the moment. Please try again later."


async def entries_of(work: Work, user: User) -> list[tuple[DirectorySource, str]]:
    """The directories that this person comes from, and the name of their entry in each.

    It is the name that the directory gave. Attributes of a person say nothing here: those can be changed.
    """
    found = []
    for one in await store.linked(work.db, user.id):
        directory = await find_directory(work, one.source) if one.kind == "ldap" and one.dn else None
        if directory is not None and directory.source.enabled:
            found.append((directory, str(one.dn)))
    return found


async def try_password(work: Work, user: User, given: str) -> str | None:
    """The source whose directory knows this person and takes the password; none is asked about an empty one."""
    if not given or len(given) > MOST_CHARACTERS:
        return None
    for directory, dn in await entries_of(work, user):
        try:
            right = await work.find(Directories).ask(
                directory.source.pbm_uuid, is_password, directory.settings, dn, given
            )
        except DirectoryFailed as error:
            slug = directory.source.slug
            log_counted("warning", "ldap.bind_failed", slug, source=slug, reason=str(error))
            continue
        if right:
            return directory.source.pbm_uuid
    return None


async def keep_password(work: Work, user: User, source: str, given: str, stamp: str) -> str | None:
    """Keep a hash, so that the password opens the door while the directory is away.

    Not for whoever was locked or got another password while the directory was asked: `stamp` is from before that.
    Returns the security stamp that counts from now on, where something was kept.
    """
    directory = await find_directory(work, source)
    if directory is None or not directory.settings.keeps_passwords:
        return None
    if not await directory.reach.holds_person(work, user.id):
        return None
    passwords = work.find(Passwords)
    if user.password is not None and await passwords.check(user.password, given):
        return None
    hashed = await passwords.hash(given)
    async with work.aside() as aside:
        if not await still_counts(aside, user.id, stamp):
            return None
        await users.set_password(aside.db, user.id, hashed, aside.now)
        return await stamp_of(aside, user.id)


async def write_back(work: Work, user: User, password: str) -> None:
    """Set a new password in the directory that wants it, before it is set here. Raises `Invalid` if that refuses."""
    for directory, dn in await entries_of(work, user):
        if not directory.settings.writes_back:
            continue
        try:
            await work.find(Directories).ask(directory.source.pbm_uuid, _set_password, directory.settings, dn, password)
        except DirectoryFailed as error:
            _log.warning("ldap.write_back_failed", source=directory.source.slug, reason=str(error))
            async with work.aside() as aside:
                await _record(aside, directory, user, error)
            words = AWAY if "Socket" in str(error) else REFUSED
            raise Invalid(fields={"password": [Complaint(words, "policy")]}) from error


def _set_password(settings: DirectorySettings, dn: str, password: str) -> None:
    opened = open_directory(settings)
    try:
        opened.set_password(dn, password, active_directory=settings.is_active_directory)
    finally:
        opened.close()


async def _record(work: Work, directory: DirectorySource, user: User, error: DirectoryFailed) -> None:
    context = {
        "message": "A new password could not be written to the directory.",
        "error": str(error)[:300],
        "source": {"pk": directory.source.pbm_uuid, "name": directory.source.name},
    }
    await audit.record(
        work, "configuration_error", "sources.ldap", user_id=user.id, username=user.username, context=context
    )
