"""An identity provider of our own making, which can also lie in every way that an attacker would."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec

from kith.identity.saml import bindings, encryption, signatures, xml
from kith.identity.saml.instants import new_id, write_instant
from kith.identity.saml.names import BEARER, PERSISTENT, SUCCESS
from tests.identity.flow_browser import Browser
from tests.identity.records import make, new_name, owner_of, results
from tests.identity.saml_keys import Pair, pair
from tests.identity.saml_services import store_pair
from tests.town import Town
from tests.town.plain import PLAIN

ISSUER = "https://idp.example/"
SSO = "https://idp.example/sso"


class Claim(msgspec.Struct, kw_only=True):
    """What a response says; everything can be set to something else."""

    name: str = ""
    name_format: str = PERSISTENT
    in_response_to: str = ""
    response_in_response_to: str | None = None
    issuer: str = ISSUER
    destination: str | None = ""
    recipient: str = ""
    audience: str | None = ""
    not_before: int = -60
    not_on_or_after: int = 60
    confirmed_until: int = 60
    status: str = SUCCESS
    attributes: dict[str, list[str]] = {}
    session_index: str = ""
    signed_in: int = 0
    session_until: int | None = None
    condition: str = ""
    id: str = ""


class IdentityProvider:
    def __init__(self, town: Town, source: dict[str, Any], keys: Pair) -> None:
        self.town = town
        self.source = source
        self.keys = keys
        self.path = f"/source/saml/{source['slug']}/"
        self.acs = f"{town.base_url}{self.path}acs/"
        self.entity_id = f"{town.base_url}{self.path}metadata/"

    async def asked(self, browser: Browser, **query: str) -> Any:
        """The request that the browser is sent with."""
        answer = await browser.http.get(self.path, params=query)
        assert answer.status_code == 302, answer.text[-1500:]
        location = answer.headers["location"]
        assert location.startswith(SSO), location
        message = bindings.read_query(urlsplit(location).query.encode(), "SAMLRequest")
        assert message is not None
        return xml.parse(message.data)

    def assertion(self, claim: Claim) -> Any:
        now = datetime.now(UTC)

        def at(seconds: int) -> str:
            return write_instant(now + timedelta(seconds=seconds))

        root = xml.new(
            "saml:Assertion", {"ID": claim.id or new_id(), "Version": "2.0", "IssueInstant": write_instant(now)}
        )
        xml.add(root, "saml:Issuer", text=claim.issuer)
        subject = xml.add(root, "saml:Subject")
        xml.add(subject, "saml:NameID", {"Format": claim.name_format}, claim.name or new_name("remote"))
        confirmation = xml.add(subject, "saml:SubjectConfirmation", {"Method": BEARER})
        xml.add(
            confirmation,
            "saml:SubjectConfirmationData",
            {
                "InResponseTo": claim.in_response_to or None,
                "NotOnOrAfter": at(claim.confirmed_until),
                "Recipient": claim.recipient or self.acs,
            },
        )
        conditions = xml.add(
            root, "saml:Conditions", {"NotBefore": at(claim.not_before), "NotOnOrAfter": at(claim.not_on_or_after)}
        )
        if claim.audience is not None:
            restriction = xml.add(conditions, "saml:AudienceRestriction")
            xml.add(restriction, "saml:Audience", text=claim.audience or self.entity_id)
        if claim.condition:
            xml.add(conditions, claim.condition)
        statement = xml.add(
            root,
            "saml:AuthnStatement",
            {
                "AuthnInstant": at(claim.signed_in),
                "SessionIndex": claim.session_index or new_id(),
                "SessionNotOnOrAfter": None if claim.session_until is None else at(claim.session_until),
            },
        )
        xml.add(xml.add(statement, "saml:AuthnContext"), "saml:AuthnContextClassRef", text="urn:x")
        told = xml.add(root, "saml:AttributeStatement") if claim.attributes else None
        for name, values in claim.attributes.items():
            attribute = xml.add(told, "saml:Attribute", {"Name": name})
            for value in values:
                xml.add(attribute, "saml:AttributeValue", text=value)
        return root

    def sign(self, element: Any, keys: Pair | None = None, algorithm: str = "rsa-sha256", digest: str = "") -> Any:
        used = keys or self.keys
        digest = digest or algorithm.partition("-")[2]
        return signatures.sign(element, key=used.key, certificate=used.certificate, signature=algorithm, digest=digest)

    def envelope(self, claim: Claim, *inside: Any) -> Any:
        answers = claim.response_in_response_to
        root = xml.new(
            "samlp:Response",
            {
                "ID": new_id(),
                "Version": "2.0",
                "IssueInstant": write_instant(datetime.now(UTC)),
                "Destination": self.acs if claim.destination == "" else claim.destination,
                "InResponseTo": (claim.in_response_to if answers is None else answers) or None,
            },
        )
        xml.add(root, "saml:Issuer", text=claim.issuer)
        xml.add(xml.add(root, "samlp:Status"), "samlp:StatusCode", {"Value": claim.status})
        for one in inside:
            root.append(one)
        return root

    def response(self, claim: Claim, *, encrypt_for: str | None = None) -> Any:
        made = self.sign(self.assertion(claim))
        return self.envelope(claim, encryption.encrypt(made, encrypt_for) if encrypt_for else made)

    async def post(self, root: Any, relay_state: str = "") -> httpx.Response:
        """As another site posts it: without any cookie."""
        form = {"SAMLResponse": base64.b64encode(xml.to_bytes(root)).decode(), "RelayState": relay_state}
        async with httpx.AsyncClient(base_url=self.town.base_url, verify=PLAIN) as http:
            return await http.post(f"{self.path}acs/", data=form)

    async def sign_in(self, browser: Browser, claim: Claim, **query: str) -> httpx.Response:
        """The whole way; the last answer."""
        claim.in_response_to = (await self.asked(browser, **query)).get("ID")
        kept = await self.post(self.response(claim))
        assert kept.status_code == 302, kept.text[-1500:]
        return await browser.http.get(kept.headers["location"])


async def make_source(town: Town, **fields: Any) -> IdentityProvider:
    owner, slug, keys = await owner_of(town), new_name("idp"), pair("remote idp")
    flows = {flow["slug"]: flow["pk"] for flow in await results(owner, "/flows/instances/")}
    given: dict[str, Any] = {
        "name": slug,
        "slug": slug,
        "sso_url": SSO,
        "idp_issuer": ISSUER,
        "name_id_policy": PERSISTENT,
        "signing_kp": await store_pair(owner, pair("us at the idp")),
        "verification_kp": await store_pair(owner, keys, private=False),
        "authentication_flow": flows["default-source-authentication"],
        "enrollment_flow": flows["default-source-enrollment"],
    }
    return IdentityProvider(town, await make(owner, "/sources/saml/", **given | fields), keys)
