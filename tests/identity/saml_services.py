"""A service that lets people in by our assertions: it has a provider, and reads what it is sent by the book."""

from __future__ import annotations

import base64
import re
import zlib
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

from kith.identity.saml import bindings, signatures, xml
from tests.identity.flow_browser import Browser
from tests.identity.records import make, new_name, owner_of, results
from tests.identity.saml_keys import Pair, pair
from tests.town import Person, Town
from tests.town.plain import PLAIN

ACS = "https://sp.example/acs"
IMPLICIT = "default-provider-authorization-implicit-consent"
_REQUEST = (
    '<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" '
    'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_r{id}" Version="2.0" '
    'IssueInstant="2026-01-01T00:00:00Z" {more}><saml:Issuer>https://sp.example/</saml:Issuer>{inside}'
    "</samlp:AuthnRequest>"
)


def authn_request(more: str = "", inside: str = "", id: str = "1") -> str:
    return _REQUEST.format(more=more, inside=inside, id=id)


def wants(name_format: str) -> str:
    return f'<samlp:NameIDPolicy Format="{name_format}"/>'


def in_context(*classes: str, comparison: str = "exact") -> str:
    named = "".join(f"<saml:AuthnContextClassRef>{one}</saml:AuthnContextClassRef>" for one in classes)
    return f'<samlp:RequestedAuthnContext Comparison="{comparison}">{named}</samlp:RequestedAuthnContext>'


class Service:
    def __init__(self, town: Town, provider: dict[str, Any], application: dict[str, Any], keys: Pair) -> None:
        self.town = town
        self.provider = provider
        self.application = application
        self.slug = str(application["slug"])
        self.keys = keys  # what the server signs with

    @property
    def path(self) -> str:
        return f"/application/saml/{self.slug}/"

    def redirect(self, request: str, relay_state: str = "", **signed: str) -> str:
        url = f"{self.path}sso/binding/redirect/"
        return bindings.write_query(url, "SAMLRequest", request.encode(), relay_state=relay_state, **signed)

    async def ask(self, browser: Browser, request: str = "", relay_state: str = "", **signed: str) -> httpx.Response:
        return await browser.http.get(self.redirect(request or authn_request(), relay_state, **signed))

    async def post(self, browser: Browser, request: str, relay_state: str = "") -> httpx.Response:
        """As another site posts: without cookies that only come along within one site."""
        form = {"SAMLRequest": base64.b64encode(request.encode()).decode(), "RelayState": relay_state}
        async with httpx.AsyncClient(base_url=self.town.base_url, verify=PLAIN) as http:
            return await http.post(f"{self.path}sso/binding/post/", data=form)

    def read(self, answer: httpx.Response) -> Any:
        """The response's root element, from a form or a redirect."""
        return xml.parse(message_of(answer)[0])

    def assertion(self, answer: httpx.Response) -> Any:
        """The assertion, if its signature is right."""
        found = xml.only(self.read(answer), "saml:Assertion")
        return signatures.verify(found, certificate=self.keys.certificate)


def message_of(answer: httpx.Response, name: str = "SAMLResponse") -> tuple[bytes, str, str]:
    """The message, its RelayState, and where it goes."""
    if answer.status_code == 302:
        url, _, query = answer.headers["location"].partition("?")
        told = parse_qs(query)
        packed = base64.b64decode(told[name][0])
        return zlib.decompress(packed, -15), told.get("RelayState", [""])[0], url
    assert answer.status_code == 200, (answer.status_code, answer.headers.get("location"), answer.text[-800:])
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', answer.text))
    action = re.search(r'<form method="post" action="([^"]+)" data-send', answer.text)
    assert action is not None
    assert name in fields, answer.text[-1500:]
    return base64.b64decode(fields[name]), unescape(fields.get("RelayState", "")), unescape(action[1])


def statuses(root: Any) -> list[str]:
    """The last words of the status codes, from the outer to the inner."""
    return [one.get("Value").rpartition(":")[2] for one in root.iter(xml.tag("samlp:StatusCode"))]


def name_of(assertion: Any) -> tuple[str, str]:
    found = xml.only(xml.only(assertion, "saml:Subject"), "saml:NameID")
    return xml.text_of(found), found.get("Format")


def attributes_of(assertion: Any) -> dict[str, list[str]]:
    return {
        one.get("Name"): [xml.text_of(value) for value in xml.children(one, "saml:AttributeValue")]
        for one in assertion.iter(xml.tag("saml:Attribute"))
    }


async def store_pair(owner: Person, keys: Pair, *, private: bool = True) -> str:
    made = await make(
        owner,
        "/crypto/certificatekeypairs/",
        name=new_name("pair"),
        certificate_data=keys.certificate,
        key_data=keys.key if private else "",
    )
    return str(made["pk"])


async def make_service(town: Town, *, keys: Pair | None = None, **fields: Any) -> Service:
    """A provider whose flow asks nothing, and its application."""
    owner, name = await owner_of(town), new_name("sp")
    keys = keys or pair("idp")
    [flow] = await results(owner, "/flows/instances/", slug=IMPLICIT)
    given = {
        "name": name,
        "acs_url": ACS,
        "issuer": f"https://idp.example/{name}",
        "audience": "https://sp.example/",
        "signing_kp": await store_pair(owner, keys),
        "sp_binding": "post",
        "authorization_flow": flow["pk"],
    }
    provider = await make(owner, "/providers/saml/", **given | fields)
    application = await make(owner, "/core/applications/", name=f"The {name}", slug=name, provider=provider["pk"])
    return Service(town, provider, application, keys)


async def mapping(town: Town, expression: str, saml_name: str = "") -> str:
    owner, name = await owner_of(town), new_name("attribute")
    made = await make(owner, "/propertymappings/saml/", name=name, saml_name=saml_name or name, expression=expression)
    return str(made["pk"])


def next_of(answer: httpx.Response) -> str:
    """Where the sign-in page leads afterwards."""
    to = answer.headers["location"]
    assert to.startswith("/flows/"), to
    return parse_qs(urlsplit(to).query)["next"][0]


def with_query(path: str, **more: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}{urlencode(more)}"
