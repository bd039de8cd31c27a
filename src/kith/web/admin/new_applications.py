"""Making an application with its provider in one go: from a few questions that whoever sets it up can answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from kith.base.errors import Invalid
from kith.base.exchange import Exchange
from kith.web import own_api
from kith.web.admin.bound import STEP
from kith.web.admin.known_software import GATEWAY, OPENID, SAML, Software
from kith.web.settings.forms import text_field
from kith.web.translation import translatable

__all__ = ["ApplicationOrder", "make", "read_order", "slug_of"]

CODE = 1  # the response type that all software of today uses
MOST_GROUPS = 50
# What an assertion tells of people unless other mappings are chosen.
_TOLD = ("name", "email", "username", "uid", "groups")


class ApplicationOrder(msgspec.Struct):
    """What was asked, as typed."""

    name: str = ""
    slug: str = ""
    address: str = ""
    redirect_uris: str = ""
    acs_url: str = ""
    audience: str = ""
    internal_host: str = ""
    groups: list[str] = msgspec.field(default_factory=list)


def read_order(form: Mapping[str, Any]) -> ApplicationOrder:
    given = dict(form)
    texts = {name: text_field(given, name) for name in ApplicationOrder.__struct_fields__ if name != "groups"}
    if texts["address"] and "://" not in texts["address"]:
        texts["address"] = f"https://{texts['address']}"
    listed = form.get("groups", [])
    groups = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    return ApplicationOrder(**texts, groups=groups[:MOST_GROUPS])


def _is_address(software: Software, text: str) -> bool:
    """Whether this is an address of a website, and one to which paths can be added where that is done."""
    unfit = r"[\s?#]" if software.callbacks or software.sign_in else r"\s"
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(unfit, text)
    except ValueError:
        return False


def slug_of(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:50]


async def make(exchange: Exchange, software: Software, order: ApplicationOrder) -> str:
    """The slug of the new application. Whatever is refused, is refused in the words of the form's own fields."""
    slug = order.slug or slug_of(order.name)
    _check(software, order, slug)
    make_provider = {OPENID: _make_client, SAML: _make_saml, GATEWAY: _make_gateway}[software.kind]
    try:
        provider = await make_provider(exchange, software, order, slug)
        made = await _create(exchange, "/api/v2/core/applications/", _application(software, order, slug, provider))
    except Invalid as problem:
        raise Invalid(fields=_as_asked(software, problem.fields)) from problem
    for place, group in enumerate(order.groups):
        binding = {"target": made["pk"], "group": group, "order": place * STEP}
        await _create(exchange, "/api/v2/policies/bindings/", binding)
    return slug


def _check(software: Software, order: ApplicationOrder, slug: str) -> None:
    needed = {"name": order.name}
    if software.key == "openid":
        needed["redirect_uris"] = order.redirect_uris
    elif software.kind == SAML:
        needed["acs_url"] = order.acs_url
    else:
        needed["address"] = order.address
    wrong = {name: [translatable("This field is required.")] for name, value in needed.items() if not value}
    if order.address and not wrong.get("address") and not _is_address(software, order.address):
        wrong["address"] = [translatable("Enter an address such as https://app.example.org.")]
    if order.name and not slug:
        wrong["slug"] = [translatable("Enter a short name of letters, digits and hyphens.")]
    if wrong:
        raise Invalid(fields=wrong)


def _application(software: Software, order: ApplicationOrder, slug: str, provider: int) -> dict[str, Any]:
    address = order.address.rstrip("/")
    return {
        "name": order.name,
        "slug": slug,
        "provider": provider,
        "meta_launch_url": f"{address}{software.sign_in}" if address else "",
        "policy_engine_mode": "any",
    }


async def _make_client(exchange: Exchange, software: Software, order: ApplicationOrder, slug: str) -> int:
    base = order.address.rstrip("/")
    uris = [f"{base}{path}" for path in software.callbacks] or order.redirect_uris.split()
    values = {"name": f"{order.name} ({slug})"[:100], "response_types": [CODE], "_redirect_uris": "\n".join(uris)}
    return int((await _create(exchange, "/api/v2/providers/openid/", values))["pk"])


async def _make_saml(exchange: Exchange, _software: Software, order: ApplicationOrder, slug: str) -> int:
    signs = await _create(
        exchange,
        "/api/v2/crypto/certificatekeypairs/generate/",
        {"common_name": f"SAML {slug}"[:64], "validity_days": 3650},
    )
    mappings = await own_api.ask(exchange, "/api/v2/propertymappings/saml/", limit=200)
    wanted = {f"kith.dev/providers/saml/{name}" for name in _TOLD}
    values = {
        "name": order.name,
        "acs_url": order.acs_url,
        "audience": order.audience,
        "issuer": f"{exchange.server.works.settings.base_url}/application/saml/{slug}/metadata/",
        "sp_binding": "post",
        "signing_kp": signs["pk"],
        "property_mappings": [one["pk"] for one in mappings["results"] if one["managed"] in wanted],
    }
    return int((await _create(exchange, "/api/v2/providers/saml/", values))["pk"])


async def _make_gateway(exchange: Exchange, software: Software, order: ApplicationOrder, _slug: str) -> int:
    values = {
        "name": order.name,
        "mode": software.mode,
        "external_host": order.address,
        "internal_host": order.internal_host,
    }
    return int((await _create(exchange, "/api/v2/providers/applicationgateway/", values))["pk"])


async def _create(exchange: Exchange, path: str, values: dict[str, Any]) -> Any:
    return msgspec.json.decode((await own_api.call(exchange, "POST", path, json=values)).body)


_ASKED = {"external_host": "address", "meta_launch_url": "address", "common_name": "slug", "_redirect_uris": "address"}


def _as_asked(software: Software, fields: Mapping[str, Any]) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for name, words in fields.items():
        place = _ASKED.get(name, name)
        if name == "_redirect_uris" and software.key == "openid":
            place = "redirect_uris"
        told.setdefault(place, []).extend(word for word in map(str, words) if word not in told.get(place, []))
    return told
