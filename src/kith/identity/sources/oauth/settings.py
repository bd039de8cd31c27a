"""An OAuth source with what it takes to talk to its service."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, select, update

from kith.base.db import UID, Document, command, query
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.sources.kinds.oauth import oauth_sources
from kith.identity.sources.oauth.presets import ServicePreset, preset_of

SECRET_PLACE = "identity_sources_oauth.consumer_secret"  # noqa: S105 - where one is kept


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """Where a service is asked, and who we are there."""

    provider_type: str
    preset: ServicePreset
    authorization_url: str
    access_token_url: str
    profile_url: str
    client_id: str
    client_secret: str
    pkce: str
    scope: str
    in_body: bool
    issuer: str
    jwks_url: str
    jwks: dict[str, Any]
    group_matching_mode: str

    @property
    def is_openid(self) -> bool:
        return self.preset.is_openid or bool(self.issuer)


_NAMES = (
    "provider_type", "authorization_url", "access_token_url", "profile_url", "consumer_key", "consumer_secret", "pkce",
    "additional_scopes", "authorization_code_auth_method", "oidc_issuer", "oidc_jwks_url", "oidc_jwks",
    "group_matching_mode",
)  # fmt: skip
_row = query(
    select(*(oauth_sources.c[name] for name in _NAMES)).where(
        oauth_sources.c.pbm_uuid == bindparam("source", type_=UID())
    ),
    tuple,
)
_keep_keys = command(
    update(oauth_sources)
    .where(
        and_(
            oauth_sources.c.pbm_uuid == bindparam("source", type_=UID()),
            oauth_sources.c.provider_type == bindparam("provider_type"),
            oauth_sources.c.oidc_jwks_url.in_((bindparam("url"), "")),
        )
    )
    .values(oidc_jwks=bindparam("jwks", type_=Document()))
)


async def find_service(work: Work, pbm_uuid: str) -> Service | None:
    row = await work.db.one(_row, source=pbm_uuid)
    if row is None:
        return None
    given = dict(zip(_NAMES, row, strict=True))
    preset = preset_of(given["provider_type"])
    sealed = given["consumer_secret"]
    return Service(
        provider_type=given["provider_type"],
        preset=preset,
        authorization_url=given["authorization_url"] or preset.authorization_url,
        access_token_url=given["access_token_url"] or preset.access_token_url,
        profile_url=given["profile_url"] or preset.profile_url,
        client_id=given["consumer_key"],
        client_secret=work.find(Sealer).open(sealed, SECRET_PLACE) if sealed else "",
        pkce=given["pkce"],
        scope=scope_of(preset.scope, given["additional_scopes"]),
        in_body=given["authorization_code_auth_method"] == "post_body",
        issuer=given["oidc_issuer"] or preset.issuer,
        jwks_url=given["oidc_jwks_url"] or preset.jwks_url,
        jwks=given["oidc_jwks"],
        group_matching_mode=given["group_matching_mode"],
    )


def scope_of(usual: str, more: str) -> str:
    """What is asked for: more than the usual, or with a star in front other things instead of it."""
    if more.startswith("*"):
        return " ".join(more[1:].split())
    return " ".join(dict.fromkeys([*usual.split(), *more.split()]))


async def keep_keys(work: Work, pbm_uuid: str, service: Service, jwks: dict[str, Any]) -> None:
    """Keep the keys that the service has shown, unless the source was pointed at another one meanwhile."""
    kind, url = service.provider_type, service.jwks_url
    await work.db.run(_keep_keys, source=pbm_uuid, provider_type=kind, url=url, jwks=jwks)
