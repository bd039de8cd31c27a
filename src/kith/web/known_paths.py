"""Addresses at which other servers of this kind have their pages, where apps and people look for them.

They lead on to the nearest page of ours.
"""

from __future__ import annotations

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, Route, get
from kith.identity import for_pages as identity
from kith.web.pages import see_other

SIGN_IN = "/flows/-/default/authentication/"
SETTINGS = "/settings/security"
LEADS_TO = {
    "/about/more": "/about",
    "/admin/accounts": "/admin/people",
    "/admin/custom_emojis": "/admin/emoji",
    "/admin/dashboard": "/admin",
    "/admin/instances": "/admin/federation",
    "/admin/settings/branding": "/admin/settings",
    "/blocks": "/settings/blocks",
    "/disputes": "/disputes/strikes",
    "/domain_blocks": "/settings/domain_blocks",
    "/filters": "/settings/filters",
    "/getting-started": "/menu",
    "/invites": "/settings/invites",
    "/mutes": "/settings/mutes",
    "/public/remote": "/public",
    "/relationships": "/settings/export",
    "/settings/aliases": "/settings/moving",
    "/settings/applications/new": "/settings/security?new=token#keys",  # guides for bots send people there
    "/settings/featured_tags": "/settings/profile",
    "/settings/imports": "/settings/import",
    "/settings/login_activities": "/settings/security",
    "/settings/migration": "/settings/moving",
    "/settings/otp_authentication": "/settings/security",
    "/settings/preferences/appearance": "/settings/preferences",
    "/settings/preferences/notifications": "/settings/preferences",
    "/settings/preferences/other": "/settings/preferences",
    "/settings/preferences/posting_defaults": "/settings/preferences",
    "/settings/privacy": "/settings/preferences",
    "/settings/security_keys": "/settings/security",
    "/settings/sessions": "/settings/security",
    "/settings/two_factor_authentication_methods": "/settings/security",
    "/settings/verification": "/settings/profile",
    "/start": "/home",
    "/statuses_cleanup": "/settings/statuses_cleanup",
    "/terms": "/terms-of-service",
    "/web": "/home",
}


@get("/auth/sign_in")
async def sign_in() -> Answer:
    return see_other(SIGN_IN, status=302)


@get("/auth/sign_up")
async def sign_up() -> Answer:
    return see_other("/flows/-/default/enrollment/", status=302)


@get("/auth/sign_out")
async def sign_out() -> Answer:
    """To the page that asks: a mere link must not sign anybody out."""
    return see_other("/flows/-/default/invalidation/", status=302)


@get("/auth/password/new")
async def forgot_password(exchange: Exchange) -> Answer:
    """Where nobody can help themselves, people are led to where they sign in."""
    has_recovery = await identity.flows.find_default(exchange, "recovery") is not None
    return see_other("/flows/-/default/recovery/" if has_recovery else SIGN_IN, status=302)


@get(
    "/auth/edit",
    aliases=("/.well-known/change-password",),
)
async def own_settings() -> Answer:
    """Whoever is not signed in is asked to be, there."""
    return see_other(SETTINGS, status=302)


def _leading(known: str, to: str) -> Route:
    @get(known)
    async def lead() -> Answer:
        return see_other(to, status=302)

    return lead


@get("/web/{path:path}", aliases=("/deck/{path:path}",))
async def lead_to_the_page(path: FromPath[str]) -> Answer:
    """Where other clients of the browser have what stands at the root here."""
    if path.startswith("api/"):
        raise NotFound
    return see_other(identity.safe_path(f"/{path}", "/"), status=302)


routes = [
    *(_leading(known, to) for known, to in LEADS_TO.items()),
    lead_to_the_page,
    sign_in,
    sign_up,
    sign_out,
    forgot_password,
    own_settings,
]
