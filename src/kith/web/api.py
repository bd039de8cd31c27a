"""The first administrator's set-up, and the picture of whoever has none."""

from __future__ import annotations

from typing import Annotated

import msgspec

from kith.base import csrf
from kith.base.errors import Complaint, Invalid
from kith.base.exchange import JSON, Answer, Exchange, whole
from kith.base.keys import Keys
from kith.base.params import fill, read_body
from kith.base.routing import FromPath, ServerPart, get, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.errors import wants_json
from kith.web.pages import NO_PICTURE, page


@get("/avatars/original/missing.png")
async def no_picture() -> Answer:
    """The picture of whoever has none."""
    headers = ((b"cache-control", b"public, max-age=86400"), (b"access-control-allow-origin", b"*"))
    return whole(NO_PICTURE, "image/png", headers=headers)


@get("/setup/{token}")
async def show_setup(exchange: Exchange, work: Work, token: FromPath[str]) -> Answer:
    await identity.signups.check_setup(work, token)
    return _setup_page(exchange, fields={}, values={})


@post("/setup/{token}", status=201)
async def set_up(
    exchange: Exchange,
    work: Work,
    keys: Annotated[Keys, ServerPart(Keys)],
    passwords: Annotated[identity.Passwords, ServerPart(identity.Passwords)],
    token: FromPath[str],
) -> Answer:
    """The form of the page, or the same fields as JSON; the link itself is what proves the right to."""
    sent = await read_body(exchange)
    as_json = wants_json(exchange)
    if not as_json:
        csrf.check(exchange, keys.session, str(sent.get("csrf", "")))
    try:
        owner = fill(identity.signups.FirstOwner, sent)
        if not as_json and sent.get("password_again") != owner.password:
            raise Invalid(fields={"password_again": [Complaint("The two passwords do not match.", "differs")]})
        user = await identity.signups.use_setup(work, passwords, token, owner)
    except Invalid as problem:
        if as_json:
            raise
        return _setup_page(exchange, fields=problem.fields, values=sent)
    if as_json:
        made = {"id": user.id, "pk": user.id, "username": user.username, "role": user.role}
        return Answer(201, JSON, msgspec.json.encode(made))
    return page(exchange, "setup_done.html", status=201, username=user.username)


def _setup_page(exchange: Exchange, *, fields: dict[str, list[str]], values: dict[str, object]) -> Answer:
    return page(
        exchange,
        "setup.html",
        status=400 if fields else 200,
        errors=fields,
        focus=next(iter(fields), None),
        values={name: str(values.get(name, "")) for name in ("username", "name", "email")},
    )


routes = [no_picture, show_setup, set_up]
