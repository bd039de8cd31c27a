from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import click

from kith.base.errors import Conflict
from kith.base.work import Work
from kith.cli.inputs import COMMAND_LINE, WORDS, password_given, read_end, user_called
from kith.cli.roles import role_called
from kith.cli.running import as_json, house, reading, run, say
from kith.cli.showing import show_record, show_rows
from kith.identity.users import store
from kith.identity.users.tables import User

if TYPE_CHECKING:  # what changes people is loaded by the commands that do
    from kith.identity.signups.store import Pending
    from kith.identity.users.service import Role

ROLES: dict[str, Role] = {
    "owner": "owner",
    "admin": "administrator",
    "administrator": "administrator",
    "moderator": "moderator",
    "user": "user",
}
_ROLE = click.Choice(list(ROLES), case_sensitive=False)
_ROLES_SHOWN = "[owner|admin|moderator|user]"
_UNSEEN = {"username_key", "email_key", "owned_email_key", "password"}

_name = click.argument("name", type=WORDS)
_password = click.option(
    "--password",
    type=WORDS,
    help="The password; - reads it from standard input. You are asked for it if it is not given.",
)
_force = click.option("--force", is_flag=True, help="Set the password even if the password policies do not accept it.")


@click.group()
def users() -> None:
    """Create, show and change user accounts."""


@users.command()
@_name
@click.option("--email", required=True, type=WORDS, help="The e-mail address.")
@_password
@click.option("--name", "full_name", default="", type=WORDS, help="The display name. Default: NAME.")
@click.option("--role", type=_ROLE, default="user", metavar=_ROLES_SHOWN, help="Default: user, an ordinary member.")
@click.option("--confirmed", is_flag=True, help="Mark the e-mail address as confirmed.")
@_force
@as_json
def create(
    *,
    name: str,
    email: str,
    password: str | None,
    full_name: str,
    role: str,
    confirmed: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Create the user NAME."""
    from kith.identity.users import service  # noqa: PLC0415 - loaded when first used
    from kith.identity.users.passwords import Passwords  # noqa: PLC0415

    new = service.NewUser(
        username=name,
        name=full_name,
        email=email,
        password=password_given(password),
        role=ROLES[role],
        confirmed=confirmed,
    )

    async def make() -> User:
        async with house() as opened, opened.works.begin() as work:
            return await service.create(work, opened.find(Passwords), new, by_name=COMMAND_LINE, judged=force)

    user = run(make())
    _tell(user, f"Created {user.username} (id {user.id}, {user.role}).", as_json=as_json)


@users.command("list")
@click.option("--role", type=_ROLE, metavar=_ROLES_SHOWN, help="Only users with this role.")
@click.option("--search", default="", type=WORDS, help="Only users with this text in a name or in the e-mail address.")
@click.option(
    "--limit", default=100, type=click.IntRange(1, 1_000_000), show_default=True, help="Maximum number of users."
)
@as_json
def list_users(*, role: str | None, search: str, limit: int, as_json: bool) -> None:
    """List users by name: ID, username, name, e-mail address, role, state and last visit."""

    async def read() -> list[User]:
        async with reading() as work:
            return await store.listed(work.db, search=search, role=ROLES[role] if role else None, most=limit + 1)

    found = run(read())
    if as_json:
        say([_record(user) for user in found[:limit]])
    else:
        heads = ["id", "username", "name", "address", "role", "state", "last here"]
        show_rows(heads, [_row(user) for user in found[:limit]], nothing="Nobody.")
    if len(found) > limit:
        click.echo(f"kith: there are more than {limit}; use --limit to see more", err=True)


@users.command()
@_name
@as_json
def show(*, name: str, as_json: bool) -> None:
    """Show everything about NAME (a username or an e-mail address) except the password."""

    async def read() -> User:
        async with reading() as work:
            return await user_called(work.db, name)

    record = _record(run(read()))
    if as_json:
        say(record)
    else:
        show_record(record)


@users.command("set-password")
@_name
@_password
@_force
@as_json
def set_password(*, name: str, password: str | None, force: bool, as_json: bool) -> None:
    """Set a new password for NAME. The old one stops working immediately."""
    from kith.identity.sessions.service import end_after_password  # noqa: PLC0415 - loaded when first used
    from kith.identity.users import service  # noqa: PLC0415
    from kith.identity.users.passwords import Passwords  # noqa: PLC0415

    secret = password_given(password)

    async def change() -> User:
        async with house() as opened, opened.works.begin() as work:
            user = await user_called(work.db, name)
            await service.set_password(work, opened.find(Passwords), user, secret, by_name=COMMAND_LINE, judged=force)
            await end_after_password(work, user.id)
            return await store.get(work.db, user.id)

    user = run(change())
    _tell(user, f"{user.username} has a new password.", as_json=as_json)


@users.command("set-role")
@_name
@click.argument("role", type=WORDS)
@as_json
def set_role(*, name: str, role: str, as_json: bool) -> None:
    """Change the role of NAME to ROLE: owner, admin, moderator, user (a member), or one of your own (kith roles)."""
    from kith.social.accounts import user_accounts  # noqa: PLC0415 - loaded when first used
    from kith.social.admin import roles  # noqa: PLC0415
    from kith.social.roles.tables import EVERYONE  # noqa: PLC0415
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def change() -> tuple[User, str]:
        async with house() as opened, opened.works.begin() as work:
            user = await user_called(work.db, name)
            account = await user_accounts.of_user(work, user.id)
            shipped = {"user": EVERYONE, "moderator": 1, "administrator": 2, "owner": 3}
            known = ROLES.get(role.lower())
            role_id = shipped[known] if known is not None else (await role_called(work, role)).id
            await roles.give(work, OPERATOR, account, role_id)
            given = known or (await roles.find(work, role_id)).name
            return await store.get(work.db, user.id), given

    user, given = run(change())
    _tell(user, f"{user.username} now has the role {given}.", as_json=as_json)


@users.command()
@_name
@as_json
def disable(*, name: str, as_json: bool) -> None:
    """Disable the account NAME immediately. Its data stays; its apps are refused until it is enabled."""
    _set_active(name, active=False, as_json=as_json)


@users.command()
@_name
@as_json
def enable(*, name: str, as_json: bool) -> None:
    """Enable the account NAME again."""
    _set_active(name, active=True, as_json=as_json)


@users.command("set-end")
@_name
@click.argument("when")
@as_json
def set_end(*, name: str, when: str, as_json: bool) -> None:
    """Have the account NAME disabled at WHEN: a day, such as 2030-12-31 (its end, in UTC), a moment, or never."""
    from kith.identity.users import expiry  # noqa: PLC0415 - loaded when first used

    expires = read_end(when)

    async def change(work: Work, user: User) -> None:
        await expiry.set_end(work, user, expires, by_name=COMMAND_LINE)

    user = run(_changed(name, change))
    words = "has no end" if user.expires is None else f"ends at {user.expires:%Y-%m-%d %H:%M:%S} UTC"
    _tell(user, f"The account {user.username} {words}.", as_json=as_json)


@users.command()
@click.option(
    "--limit", default=100, type=click.IntRange(1, 1_000_000), show_default=True, help="Maximum number of users."
)
@as_json
def pending(*, limit: int, as_json: bool) -> None:
    """List users who are waiting for approval, longest waiting first, with the reason they gave."""
    from kith.identity.signups import service as signups  # noqa: PLC0415 - loaded when first used
    from kith.identity.signups.store import Pending  # noqa: PLC0415

    async def read() -> list[Pending]:
        async with reading() as work:
            return await signups.pending(work, most=limit)

    found = run(read())
    if as_json:
        say([{field: getattr(one, field) for field in Pending.__struct_fields__} for one in found])
    else:
        heads = ["id", "username", "address", "confirmed", "since", "reason"]
        rows: list[list[object]] = [
            [one.id, one.username, one.email, "yes" if one.confirmed_at else "no", one.created_at, one.reason]
            for one in found
        ]
        show_rows(heads, rows, nothing="Nobody is waiting.")


@users.command()
@_name
@as_json
def approve(*, name: str, as_json: bool) -> None:
    """Approve the sign-up of NAME."""
    from kith.identity.signups import service as signups  # noqa: PLC0415 - loaded when first used

    async def change(work: Work, user: User) -> None:
        await signups.approve(work, user, by_name=COMMAND_LINE)

    user = run(_changed(name, change))
    _tell(user, f"{user.username} has been approved.", as_json=as_json)


@users.command()
@_name
@as_json
def reject(*, name: str, as_json: bool) -> None:
    """Reject the sign-up of NAME. The account is deleted, and its name can be used again."""
    from kith.identity.signups import service as signups  # noqa: PLC0415 - loaded when first used

    async def turn_down() -> User:
        async with _holding(name) as (work, user):
            await signups.reject(work, user, by_name=COMMAND_LINE)
            return user

    user = run(turn_down())
    _tell(user, f"{user.username} has been rejected.", as_json=as_json)


@users.command()
@_name
@as_json
def confirm(*, name: str, as_json: bool) -> None:
    """Mark the e-mail address of NAME as confirmed."""
    from kith.identity.signups import service as signups  # noqa: PLC0415 - loaded when first used

    async def change(work: Work, user: User) -> None:
        if not await signups.confirm(work, user):
            raise Conflict(f"{user.email} is the confirmed e-mail address of another account")

    user = run(_changed(name, change))
    _tell(user, f"The e-mail address of {user.username} is confirmed.", as_json=as_json)


def _set_active(name: str, *, active: bool, as_json: bool) -> None:
    from kith.identity.users import service  # noqa: PLC0415 - loaded when first used

    async def change(work: Work, user: User) -> None:
        await service.set_active(work, user, active, by_name=COMMAND_LINE)

    user = run(_changed(name, change))
    _tell(user, f"{user.username} is now {_state(user)}.", as_json=as_json)


async def _changed(name: str, change: Callable[[Work, User], Awaitable[None]]) -> User:
    async with _holding(name) as (work, user):
        await change(work, user)
        return await store.get(work.db, user.id)


@asynccontextmanager
async def _holding(name: str) -> AsyncIterator[tuple[Work, User]]:
    """Two commands at once must not each take one of the last two administrators away."""
    async with house() as opened, opened.works.begin() as work:
        yield work, await user_called(work.db, name)


def _tell(user: User, words: str, *, as_json: bool) -> None:
    if as_json:
        say(_record(user))
    else:
        click.echo(words)


def _record(user: User) -> dict[str, object]:
    record = {field: getattr(user, field) for field in User.__struct_fields__ if field not in _UNSEEN}
    return record | {"has_password": user.password is not None}


def _row(user: User) -> list[object]:
    return [
        user.id,
        user.username,
        user.name,
        user.email,
        user.role,
        _state(user),
        user.last_login_at,
    ]


def _state(user: User) -> str:
    if not user.is_active:
        return "disabled"
    return "active" if user.approved_at is not None else "waiting"
