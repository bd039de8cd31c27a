"""Software that people set up with us: how it signs people in, and where it takes them back."""

from __future__ import annotations

import msgspec

from kith.web.translation import translatable

__all__ = ["ALL", "Software", "find_software", "software_for"]

OPENID, SAML, GATEWAY = "openid", "saml", "applicationgateway"


class Software(msgspec.Struct, frozen=True, kw_only=True):
    """`callbacks` are paths below the address of the service, to which people come back after signing in."""

    key: str
    words: str
    kind: str
    about: str
    example: str
    callbacks: tuple[str, ...] = ()
    sign_in: str = ""  # the page that starts the sign-in, below the service's address
    mode: str = ""  # of a gateway


_WIKI = "https://wiki.example.org"
_FORWARD = translatable("For applications without a sign-in of their own, behind this proxy.")
ALL = (
    Software(
        key="nextcloud",
        words="Nextcloud",
        kind=OPENID,
        about=translatable("Files, calendars and more, with the app user_oidc."),
        example="https://cloud.example.org",
        callbacks=("/apps/user_oidc/code", "/index.php/apps/user_oidc/code"),
    ),
    Software(
        key="grafana",
        words="Grafana",
        kind=OPENID,
        about=translatable("Dashboards, with the generic OAuth sign-in."),
        example="https://grafana.example.org",
        callbacks=("/login/generic_oauth",),
        sign_in="/login/generic_oauth",
    ),
    Software(
        key="gitea",
        words="Gitea, Forgejo",
        kind=OPENID,
        about=translatable("Code and issues."),
        example="https://git.example.org",
        callbacks=("/user/oauth2/kith/callback",),
        sign_in="/user/oauth2/kith",
    ),
    Software(
        key="wordpress",
        words="WordPress",
        kind=OPENID,
        about=translatable("Websites, with the plugin OpenID Connect Generic."),
        example="https://www.example.org",
        callbacks=("/wp-admin/admin-ajax.php?action=openid-connect-authorize",),
    ),
    Software(
        key="openid",
        words=translatable("Anything with OpenID Connect"),
        kind=OPENID,
        about=translatable("Most software of today: it asks for a client ID, a secret and a discovery address."),
        example="https://app.example.org",
    ),
    Software(
        key="saml",
        words=translatable("Anything with SAML"),
        kind=SAML,
        about=translatable("Often in schools, offices and older software: it asks for metadata or a certificate."),
        example="https://app.example.org",
    ),
    Software(
        key="nginx",
        words="nginx",
        kind=GATEWAY,
        about=_FORWARD,
        example=_WIKI,
        mode="forward_single",
    ),
    Software(
        key="traefik",
        words="Traefik",
        kind=GATEWAY,
        about=_FORWARD,
        example=_WIKI,
        mode="forward_single",
    ),
    Software(
        key="caddy",
        words="Caddy",
        kind=GATEWAY,
        about=_FORWARD,
        example=_WIKI,
        mode="forward_single",
    ),
    Software(
        key="gateway",
        words=translatable("This server in front"),
        kind=GATEWAY,
        about=translatable("For applications without a sign-in of their own: this server passes requests on to them."),
        example=_WIKI,
        mode="proxy",
    ),
)
_by_key = {one.key: one for one in ALL}


def find_software(key: str) -> Software | None:
    return _by_key.get(key)


def software_for(kind: str, mode: str = "") -> list[Software]:
    """What can be set up with a provider of this kind; the general one first."""
    fitting = [one for one in ALL if one.kind == kind and (not mode or (one.mode == "proxy") == (mode == "proxy"))]
    return sorted(fitting, key=lambda one: one.key not in (kind, "gateway"))
