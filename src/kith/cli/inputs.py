"""What commands are given: words, secrets, and the names of people."""

from __future__ import annotations

import difflib
import sys
from datetime import datetime, timedelta

import click

from kith.base.db import Session
from kith.base.errors import Conflict, Invalid, NotFound
from kith.base.moments import read_moment
from kith.identity.users import store
from kith.identity.users.names import username_key
from kith.identity.users.tables import User

COMMAND_LINE = "command line"  # who did it, in the audit trail


class TextArgument(click.ParamType[str]):
    """Text that a database can keep; the shell may hand over any bytes."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, _ctx: click.Context | None) -> str:
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise Invalid(f"{param.human_readable_name if param else 'this'} is not UTF-8 text") from error
        return value


WORDS = TextArgument()


def read_end(text: str) -> datetime | None:
    """A day (its end), a moment (in UTC unless it says otherwise), or never."""
    if text.lower() == "never":
        return None
    at = read_moment(text)
    if at is None:
        raise Invalid(f"{text} is neither a day, such as 2030-12-31, nor a moment, nor never")
    return at + timedelta(days=1) if len(text) <= len("2030-12-31") else at


def password_given(given: str | None) -> str:
    """The password itself; `-` is the next line of standard input, and nothing is a question."""
    if given == "-":
        return line_given("password")
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise Invalid(
            "cannot ask for the password without a terminal: use --password (or --password - for standard input)"
        )
    answer: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    return answer


def line_given(what: str) -> str:
    """The next line of standard input, where a secret does not show in the list of processes."""
    line = sys.stdin.buffer.readline().rstrip(b"\r\n")
    if not line:
        raise Invalid(f"there is no {what} on standard input")
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"the {what} on standard input is not UTF-8 text") from error


async def user_called(db: Session, name: str) -> User:
    """The person whose address or username this is, or the only one who gave this address."""
    user = await store.find_typed(db, name)
    if user is not None:
        return user
    owners = await store.with_email(db, name) if "@" in name else []
    if len(owners) > 1:
        names = ", ".join(owner.username for owner in owners)
        raise Conflict(f"several users have the e-mail address {name}: {names}")
    if owners:
        return owners[0]
    names_by_key = {username_key(found): found for found in await store.names_near(db, name)}
    near = difflib.get_close_matches(username_key(name), names_by_key, n=1)
    hint = f"; did you mean {names_by_key[near[0]]}?" if near else ""
    raise NotFound(f"there is no user called {name}{hint}")
