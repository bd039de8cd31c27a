"""A second opinion in both roles: pysaml2 with Debian's xmlsec1 as the service, and as the identity provider."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.identity.flow_browser import Browser
from tests.identity.pysaml import (
    BINDING_HTTP_POST,
    BINDING_HTTP_REDIRECT,
    NAMEID_FORMAT_PERSISTENT,
    IdPConfig,
    NameID,
    Saml2Client,
    Server,
    SPConfig,
)
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.relying_party import signed_in
from tests.identity.saml_idps import make_source
from tests.identity.saml_keys import Pair, pair
from tests.identity.saml_services import IMPLICIT, message_of, store_pair
from tests.town import Town
from tests.town.debian import need

pytestmark = pytest.mark.filterwarnings("ignore")  # of pysaml2, which is older than what it uses
ACS = "https://pysaml.example/acs"
SLS = "https://pysaml.example/sls"


@pytest.fixture(scope="session")
def xmlsec() -> str:
    return need("/usr/bin/xmlsec1", "xmlsec1")


def stored(folder: Path, keys: Pair) -> dict[str, str]:
    (folder / "key.pem").write_text(keys.key)
    (folder / "cert.pem").write_text(keys.certificate)
    return {"key_file": str(folder / "key.pem"), "cert_file": str(folder / "cert.pem")}


def service(folder: Path, xmlsec: str, metadata: str = "") -> Any:
    (folder / "idp.xml").write_text(metadata)
    own = stored(folder, pair("pysaml"))
    config = SPConfig()
    config.load(
        {
            "entityid": "https://pysaml.example/",
            "xmlsec_binary": xmlsec,
            **own,
            "encryption_keypairs": [own],
            "allow_unknown_attributes": True,
            "metadata": {"local": [str(folder / "idp.xml")]} if metadata else {},
            "service": {
                "sp": {
                    "endpoints": {
                        "assertion_consumer_service": [(ACS, BINDING_HTTP_POST)],
                        "single_logout_service": [(SLS, BINDING_HTTP_REDIRECT)],
                    },
                    "authn_requests_signed": True,
                    "want_assertions_signed": True,
                    "want_response_signed": True,
                    "logout_requests_signed": True,
                    "signing_algorithm": "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
                    "digest_algorithm": "http://www.w3.org/2001/04/xmlenc#sha256",
                }
            },
        }
    )
    return config


async def introduced(town: Town, tmp_path: Path, xmlsec: str, **fields: Any) -> tuple[Any, dict[str, Any]]:
    """pysaml2 knows us by our metadata, and has a provider here."""
    owner, name = await owner_of(town), new_name("pysaml")
    [flow] = await results(owner, "/flows/instances/", slug=IMPLICIT)
    mappings = [one["pk"] for one in await results(owner, "/propertymappings/saml/") if one["managed"]]
    theirs = await store_pair(owner, pair("pysaml"), private=False)
    given = {
        "name": name,
        "acs_url": ACS,
        "issuer": f"https://idp.example/{name}",
        "audience": "https://pysaml.example/",
        "signing_kp": await store_pair(owner, pair("idp")),
        "verification_kp": theirs,
        "encryption_kp": theirs,
        "sign_response": True,
        "sp_binding": "post",
        "sls_url": SLS,
        "sign_logout_response": True,
        "authorization_flow": flow["pk"],
        "property_mappings": mappings,
    }
    provider = await make(owner, "/providers/saml/", **given | fields)
    await make(owner, "/core/applications/", name=name, slug=name, provider=provider["pk"])
    metadata = (await owner.get(f"{API}/providers/saml/{provider['pk']}/metadata/")).json()["metadata"]
    return Saml2Client(config=await asyncio.to_thread(service, tmp_path, xmlsec, metadata)), provider


@pytest.mark.parametrize("binding", [BINDING_HTTP_REDIRECT, BINDING_HTTP_POST])
async def test_pysaml2_is_a_service(town: Town, tmp_path: Path, xmlsec: str, binding: str) -> None:
    client, provider = await introduced(town, tmp_path, xmlsec)
    person, browser = await signed_in(town)
    request_id, sent = await asyncio.to_thread(
        client.prepare_for_authenticate,
        entityid=provider["issuer"],
        relay_state="back",
        binding=binding,
        nameid_format=NAMEID_FORMAT_PERSISTENT,
    )
    if binding == BINDING_HTTP_REDIRECT:
        answer = await browser.http.get(dict(sent["headers"])["Location"])
    else:
        form = {"SAMLRequest": sent["data"].split('name="SAMLRequest" value="')[1].split('"')[0], "RelayState": "back"}
        kept = await browser.http.post(sent["url"], data=form)
        assert kept.status_code == 303, kept.text[-1500:]
        answer = await browser.http.get(kept.headers["location"])
    data, relay_state, to = message_of(answer)
    assert (relay_state, to) == ("back", ACS)

    read = await asyncio.to_thread(
        client.parse_authn_request_response,
        base64.b64encode(data).decode(),
        BINDING_HTTP_POST,
        outstanding={request_id: "/"},
    )
    assert read.name_id.format == NAMEID_FORMAT_PERSISTENT
    assert person.username in str(read.ava)

    logout = await asyncio.to_thread(
        client.do_logout,
        read.name_id,
        [provider["issuer"]],
        reason="bye",
        expire="2099-01-01T00:00:00Z",
        expected_binding=BINDING_HTTP_REDIRECT,
    )
    asked = dict(next(iter(logout.values()))[1]["headers"])["Location"]
    answer = await browser.http.get(asked)
    while answer.status_code in (302, 303) and answer.headers["location"].startswith("/"):
        answer = await browser.http.get(answer.headers["location"])
    assert await browser.who() is None
    told = parse_qs(urlsplit(answer.headers["location"]).query)
    done = await asyncio.to_thread(client.parse_logout_request_response, told["SAMLResponse"][0], BINDING_HTTP_REDIRECT)
    assert done.status_ok()


def identity_provider(folder: Path, xmlsec: str, metadata: str) -> Any:
    (folder / "sp.xml").write_text(metadata)
    config = IdPConfig()
    config.load(
        {
            "entityid": "https://idp.example/",
            "xmlsec_binary": xmlsec,
            **stored(folder, pair("remote idp")),
            "metadata": {"local": [str(folder / "sp.xml")]},
            "service": {
                "idp": {
                    "endpoints": {"single_sign_on_service": [("https://idp.example/sso", BINDING_HTTP_REDIRECT)]},
                    "policy": {"default": {"lifetime": {"minutes": 5}, "name_form": "x"}},
                    "sign_response": True,
                    "sign_assertion": True,
                    "want_authn_requests_signed": True,
                    "signing_algorithm": "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
                    "digest_algorithm": "http://www.w3.org/2001/04/xmlenc#sha256",
                }
            },
        }
    )
    return Server(config=config)


async def test_pysaml2_is_an_identity_provider(town: Town, tmp_path: Path, xmlsec: str) -> None:
    idp = await make_source(town, signed_response=True)
    browser, name = Browser(town), new_name("pys").replace("-", "_")
    metadata = (await browser.http.get(f"{idp.path}metadata/")).text
    server = await asyncio.to_thread(identity_provider, tmp_path, xmlsec, metadata)
    sent = await browser.http.get(idp.path)
    query = parse_qs(urlsplit(sent.headers["location"]).query)
    asked = await asyncio.to_thread(
        server.parse_authn_request,
        query["SAMLRequest"][0],
        BINDING_HTTP_REDIRECT,
        sigalg=query["SigAlg"][0],
        signature=query["Signature"][0],
    )
    response = await asyncio.to_thread(
        server.create_authn_response,
        {"mail": [f"{name}@example.org"]},
        asked.message.id,
        idp.acs,
        sp_entity_id=idp.entity_id,
        name_id=NameID(format=NAMEID_FORMAT_PERSISTENT, text=name),
        authn={"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password", "authn_auth": "x"},
        sign_assertion=True,
        sign_response=True,
    )
    form = {"SAMLResponse": base64.b64encode(str(response).encode()).decode()}
    kept = await Browser(town).http.post(f"{idp.path}acs/", data=form)
    assert kept.status_code == 302, kept.text[-2500:]
    await browser.http.get(kept.headers["location"])
    assert await browser.who() == name
