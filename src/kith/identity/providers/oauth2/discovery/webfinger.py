"""WebFinger's issuer relation: this server is the issuer for its members."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import msgspec

from kith.base.settings import Settings
from kith.base.work import Work
from kith.identity.users import store as users
from kith.identity.users.able_people import may_act

RELATION = "http://openid.net/specs/connect/1.0/issuer"


class Issuer(msgspec.Struct, frozen=True):
    username: str
    issuer: str


async def find_issuer(work: Work, resource: str) -> Issuer | None:
    """For `acct:ada@here` or the address of a profile; None for everybody who is not a member."""
    name = _name_in(resource, work.settings)
    user = await users.find(work.db, name) if name and len(name) <= 150 and "\0" not in name else None
    if user is None or not may_act(work, user):
        return None
    return Issuer(user.username, f"{work.settings.base_url}/")


def _name_in(resource: str, settings: Settings) -> str | None:
    base_url = settings.base_url
    hosts = (settings.domain.lower(), settings.web_domain.lower(), (urlsplit(base_url).hostname or "").lower())
    scheme, _, rest = resource.partition(":")
    if scheme.lower() == "acct":
        name, at, host = unquote(rest).removeprefix("@").rpartition("@")
        return name if at and host.lower() in hosts else None
    for door in (f"{base_url}/@", f"{base_url}/users/"):
        if resource.startswith(door):
            name = unquote(resource.removeprefix(door))
            return name if "/" not in name and "?" not in name else None
    return None
