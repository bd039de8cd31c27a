"""Servers of the fediverse as sources: whoever has an account on one that speaks Mastodon's API can come in.

We become known there as an app when the first person of theirs comes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from sqlalchemy import and_, bindparam, delete, func, select

from kith.base.db import UID, Session, add_once, command, query
from kith.base.host_names import ascii_host
from kith.base.http import Outgoing, OutgoingError
from kith.base.http.addresses import PrivateHosts
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.sources.arrival import Arrival
from kith.identity.sources.oauth.answers import cleaned
from kith.identity.sources.oauth.client import FORM, MOST_BYTES, SECONDS, NoAnswer
from kith.identity.sources.oauth.settings import Service
from kith.identity.sources.store import Source
from kith.identity.sources.tables import remote_apps

MOST_APPS = 20_000
FORGOTTEN_AT_ONCE = 100
MOST_IN_USERNAME = 200
MOST_TYPED = 500
SECRET_PLACE = "identity_source_remote_apps.client_secret"  # noqa: S105 - where one is kept
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[0-9]{1,5})?")
_NO_SERVER = "We could not reach a server of this name that lets people sign in elsewhere. Is it spelled right?"

_where = and_(remote_apps.c.source == bindparam("source", type_=UID()), remote_apps.c.host == bindparam("host"))
_find = query(
    select(remote_apps.c.client_id, remote_apps.c.client_secret, remote_apps.c.redirect_uri).where(_where), tuple
)
_add = command(add_once(remote_apps))
_forget = command(delete(remote_apps).where(_where))
_count = query(select(func.count()).select_from(remote_apps), int)
_oldest = select(remote_apps.c.created_at).order_by(remote_apps.c.created_at).limit(1).offset(bindparam("place"))
_forget_oldest = command(delete(remote_apps).where(remote_apps.c.created_at < _oldest.scalar_subquery()))


class RemoteApp(msgspec.Struct, frozen=True):
    host: str
    client_id: str
    client_secret: str


def read_server(text: str) -> tuple[str, str]:
    """Name and host of what somebody typed: `@name@host`, `name@host`, a host, or the address of a server.

    Both are empty where it is none of these.
    """
    if len(text) > MOST_TYPED:
        return "", ""
    typed = text.strip().lower().removeprefix("https://").removeprefix("http://")
    typed = typed.partition("/")[0] if "@" not in typed.partition("/")[0] else typed.rstrip("/")
    name, at, host = typed.removeprefix("@").rpartition("@")
    try:
        bare, colon, port = host.partition(":")
        host = f"{ascii_host(bare)}{colon}{port}"
    except ValueError:
        return "", ""
    if not _HOST.fullmatch(host) or ".." in host or (at and not re.fullmatch(r"[\w.-]{1,100}", name)):
        return "", ""
    return name, host


def origin_of(work: Work, host: str) -> str:
    parts = urlsplit(f"//{host}")
    listed = PrivateHosts(work.settings.private_hosts).lists(parts.hostname or "", parts.port or 80)
    return f"{'http' if listed else 'https'}://{host}"


async def find_home(work: Work, name: str, host: str) -> str:
    """The host that serves the API: a handle's domain may only point to it."""
    if not name:
        return host
    query = urlencode({"resource": f"acct:{name}@{host}"})
    try:
        answer = await work.find(Outgoing).request(
            "GET",
            f"{origin_of(work, host)}/.well-known/webfinger?{query}",
            headers={"Accept": "application/jrd+json, application/json"},
            max_bytes=MOST_BYTES,
            timeout=SECONDS,
        )
        links = answer.json().get("links", []) if answer.status == 200 else []
    except (OutgoingError, ValueError, AttributeError):
        return host
    for link in links if isinstance(links, list) else []:
        if isinstance(link, dict) and link.get("rel") == "self" and isinstance(link.get("href"), str):
            return read_server(link["href"].partition("://")[2].partition("/")[0])[1] or host
    return host


async def registered(work: Work, source: Source, service: Service, host: str, redirect_uri: str) -> RemoteApp:
    """Our app at this server, which is made there if there is none."""
    row = await work.db.one(_find, source=source.pbm_uuid, host=host)
    if row is not None and row[2] == redirect_uri:
        return RemoteApp(host, row[0], work.find(Sealer).open(row[1], SECRET_PLACE))
    app = await _register(work, service, host, redirect_uri)
    async with work.aside() as aside:
        await _keep(aside, source, app, redirect_uri)
    return app


async def _register(work: Work, service: Service, host: str, redirect_uri: str) -> RemoteApp:
    form = {
        "client_name": work.settings.title,
        "redirect_uris": redirect_uri,
        "scopes": service.scope,
        "website": work.settings.base_url,
    }
    try:
        answer = await work.find(Outgoing).request(
            "POST",
            f"{origin_of(work, host)}/api/v1/apps",
            headers=FORM,
            body=urlencode(form).encode(),
            max_bytes=MOST_BYTES,
            timeout=SECONDS,
            max_redirects=0,
        )
        told = cleaned(answer.json())
    except OutgoingError as error:
        raise NoAnswer(f"{host}: {error.reason}", _NO_SERVER) from error
    except ValueError as error:
        raise NoAnswer(f"{host}: no JSON", _NO_SERVER) from error
    names = ("client_id", "client_secret")
    if answer.status not in (200, 201) or not isinstance(told, dict) or not all(_is_word(told.get(n)) for n in names):
        raise NoAnswer(f"{host}: no app was made, status {answer.status}", _NO_SERVER)
    return RemoteApp(host, told["client_id"], told["client_secret"])


def _is_word(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 1000


async def _keep(work: Work, source: Source, app: RemoteApp, redirect_uri: str) -> None:
    """Strangers name the hosts, so there is an end to how many are remembered: the oldest are forgotten then.

    Whoever is on the way has their app with them.
    """
    await forget(work.db, source.pbm_uuid, app.host)
    if (await work.db.one(_count) or 0) >= MOST_APPS:
        await work.db.run(_forget_oldest, place=FORGOTTEN_AT_ONCE)
    await work.db.run(
        _add,
        source=source.pbm_uuid,
        host=app.host,
        client_id=app.client_id,
        client_secret=work.find(Sealer).seal(app.client_secret, SECRET_PLACE),
        redirect_uri=redirect_uri,
        created_at=work.now,
    )


async def forget(db: Session, source: str, host: str) -> None:
    await db.run(_forget, source=source, host=host)


def at_server(work: Work, service: Service, app: RemoteApp) -> Service:
    """The service as this one server offers it."""
    origin = origin_of(work, app.host)
    return msgspec.structs.replace(
        service,
        authorization_url=f"{origin}/oauth/authorize",
        access_token_url=f"{origin}/oauth/token",
        profile_url=f"{origin}/api/v1/accounts/verify_credentials",
        client_id=app.client_id,
        client_secret=app.client_secret,
        in_body=True,
        issuer="",
    )


def read_account(source: Source, host: str, profile: Mapping[str, Any]) -> Arrival:
    """An account is known by its id at its server: a name can be given to somebody else there one day.

    The server is whichever the person named, so groups are matched by nothing but their connections.
    """
    account_id, username = _word(profile.get("id")), _word(profile.get("username"))
    if not account_id or not username or len(account_id) > 100 or len(username) > MOST_IN_USERNAME:
        raise NoAnswer(f"{host}: the account has no id", "Could not determine id.")
    handle = f"{username}@{host}"
    told = {
        "server": host,
        "handle": handle,
        "id": account_id,
        "username": username,
        "display_name": _word(profile.get("display_name"))[:500],
        "url": _word(profile.get("url"))[:500],
        "bot": profile.get("bot") is True,
        "locked": profile.get("locked") is True,
        "created_at": _word(profile.get("created_at"))[:40],
        "followers_count": _count_of(profile.get("followers_count")),
        "following_count": _count_of(profile.get("following_count")),
        "statuses_count": _count_of(profile.get("statuses_count")),
    }
    properties = {"username": username, "name": told["display_name"], "attributes.fediverse": handle}
    return Arrival(
        source=source,
        identifier=f"{quote(account_id, safe='')}@{host}",
        properties={name: value for name, value in properties.items() if value},
        told=told,
        is_anybodys_word=True,
        given={"info": dict(profile), "client": {"provider_type": "mastodon", "host": host}, "token": {}},
    )


def _word(value: object) -> str:
    """A text, or a number as one; servers write ids either way."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _count_of(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
