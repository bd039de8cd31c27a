"""Signing in with an account at a SAML identity provider, and every lie that one could tell."""

from __future__ import annotations

import asyncio
import base64
import copy
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from lxml import etree

from kith.identity.saml import bindings, encryption, signatures, stored_requests, xml
from kith.identity.saml.instants import new_id
from kith.identity.saml.logout_messages import read_logout_request, write_logout_request, write_logout_response
from kith.identity.saml.names import EMAIL, POST, TRANSIENT, WINDOWS
from kith.identity.saml.protocol import LogoutRequest, LogoutResponse
from kith.identity.sources.saml.sign_in import ARRIVAL, COMES_ALONG
from kith.identity.sources.saml.transients import SWEEP, TransientSweep
from tests.identity.flow_browser import Browser
from tests.identity.records import API, make, make_binding, make_flow, make_stage, new_name, owner_of, results
from tests.identity.relying_party import signed_in
from tests.identity.saml_idps import SSO, Claim, IdentityProvider, make_source
from tests.identity.saml_keys import pair
from tests.identity.saml_services import message_of, store_pair
from tests.town import Person, Town


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def test_somebody_new_signs_up_and_comes_back_as_the_same_person(town: Town, ada: Person) -> None:
    idp, name = await make_source(town), new_name("remote").replace("-", "_")
    claim = Claim(
        name=name,
        attributes={"mail": [f"{name}@example.org"], "displayName": ["Remote Person"], "groups": [f"{name}-choir"]},
    )
    first, later = Browser(town), Browser(town)
    answer = await idp.sign_in(first, claim, next="/settings/security")
    assert answer.headers["location"] == "/settings/security", answer.text[-1500:]
    assert await first.who() == name
    await idp.sign_in(later, claim)
    assert await later.who() == name
    [user] = await results(ada, "/core/users/", username=name)
    assert (user["email"], user["name"]) == (f"{name}@example.org", "Remote Person")
    [known] = await results(ada, "/sources/user_connections/saml/", user=user["pk"])
    assert known["identifier"] == name
    groups = await results(ada, "/core/groups/", name=f"{name}-choir")
    assert len(groups) == 1


async def test_our_request_says_what_we_want(town: Town) -> None:
    idp = await make_source(town, force_authn=True, name_id_policy=EMAIL)
    request = await idp.asked(Browser(town))
    assert (request.get("Destination"), request.get("AssertionConsumerServiceURL")) == (SSO, idp.acs)
    assert (request.get("ForceAuthn"), request.get("ProtocolBinding")) == ("true", POST)
    assert xml.text_of(xml.only(request, "saml:Issuer")) == idp.entity_id
    assert xml.only(request, "samlp:NameIDPolicy").get("Format") == EMAIL
    answer = await Browser(town).http.get(idp.path)
    message = bindings.read_query(urlsplit(answer.headers["location"]).query.encode(), "SAMLRequest")
    assert message is not None
    bindings.verify_query(message, certificate=pair("us at the idp").certificate)


@pytest.mark.parametrize(("binding", "sends_itself"), [("POST", False), ("POST_AUTO", True)])
async def test_the_request_can_be_posted(town: Town, binding: str, *, sends_itself: bool) -> None:
    idp = await make_source(town, binding_type=binding)
    page = await Browser(town).http.get(idp.path)
    assert ("data-send" in page.text) is sends_itself
    assert f'action="{SSO}"' in page.text
    assert "form-action https://idp.example" in page.headers["content-security-policy"]
    if sends_itself:
        root = xml.parse(message_of(page, "SAMLRequest")[0])
        signatures.verify(root, certificate=pair("us at the idp").certificate)


async def test_our_metadata_can_be_read(town: Town, ada: Person) -> None:
    idp = await make_source(town, encryption_kp=await store_pair(ada, pair("opens")))
    document = (await Browser(town).http.get(f"{idp.path}metadata/")).content
    root = signatures.verify(xml.parse(document), certificate=pair("us at the idp").certificate)
    assert root.get("entityID") == idp.entity_id
    told = {one.get("Location") for one in root.iter() if one.get("Location")}
    assert told == {idp.acs, f"{town.base_url}{idp.path}slo/"}
    assert {one.get("use") for one in root.iter(xml.tag("md:KeyDescriptor"))} == {"signing", "encryption"}
    shown = (await ada.get(f"{API}/sources/saml/{idp.source['pk']}/metadata/")).json()
    assert shown["metadata"].encode() == document


# Lies


LIES: dict[str, dict[str, Any]] = {
    "another destination": {"destination": "https://other.example/acs/"},
    "another recipient": {"recipient": "https://other.example/acs/"},
    "another audience": {"audience": "https://other.example/"},
    "no audience": {"audience": None},
    "another issuer": {"issuer": "https://evil.example/"},
    "expired": {"not_on_or_after": -120},
    "not yet": {"not_before": 120},
    "confirmed too long ago": {"confirmed_until": -120},
    "not signed in": {"status": "urn:oasis:names:tc:SAML:2.0:status:Responder"},
    "answers something else": {"response_in_response_to": "_other"},
    "signed in tomorrow": {"signed_in": 86_400},
    "the session there is over": {"session_until": -120},
    "a condition that nobody knows": {"condition": "saml:Condition"},
}


@pytest.mark.parametrize("lie", LIES)
async def test_what_is_not_said_to_us_is_refused(town: Town, lie: str) -> None:
    idp, browser = await make_source(town), Browser(town)
    claim = Claim(in_response_to=(await idp.asked(browser)).get("ID"), **LIES[lie])
    answer = await idp.post(idp.response(claim))
    assert answer.status_code == 400, answer.text[-1500:]
    assert await browser.who() is None


def _two(idp: IdentityProvider, claim: Claim) -> Any:
    return idp.envelope(
        claim, idp.assertion(Claim(name="admin", in_response_to=claim.in_response_to)), _good(idp, claim)
    )


def _good(idp: IdentityProvider, claim: Claim) -> Any:
    return idp.sign(idp.assertion(claim))


def _wrapped(idp: IdentityProvider, claim: Claim) -> Any:
    """The signed assertion inside a forged one, which has its signature."""
    good = _good(idp, claim)
    evil = idp.assertion(Claim(name="admin", in_response_to=claim.in_response_to))
    signature = copy.deepcopy(good.find(xml.tag("ds:Signature")))
    good.remove(good.find(xml.tag("ds:Signature")))
    signature.append(good)
    evil.insert(1, signature)
    return idp.envelope(claim, evil)


def _comment(idp: IdentityProvider, claim: Claim) -> bytes:
    """A comment in the name does not change what was signed, and must not change what is read."""
    claim.name = "admin.evil"
    text = xml.to_bytes(idp.envelope(claim, _good(idp, claim)))
    return text.replace(b"admin.evil", b"admin<!---->.evil")


FORGERIES: dict[str, Callable[[IdentityProvider, Claim], Any]] = {
    "unsigned": lambda idp, claim: idp.envelope(claim, idp.assertion(claim)),
    "foreign key": lambda idp, claim: idp.envelope(claim, idp.sign(idp.assertion(claim), pair("stranger"))),
    "weak digest": lambda idp, claim: idp.envelope(claim, idp.sign(idp.assertion(claim), digest="sha1")),
    "weak": lambda idp, claim: idp.envelope(claim, idp.sign(idp.assertion(claim), algorithm="rsa-sha1")),
    "two assertions": _two,
    "wrapped": _wrapped,
    "only the response is signed": lambda idp, claim: idp.sign(idp.envelope(claim, idp.assertion(claim))),
    "no assertion": lambda idp, claim: idp.envelope(claim),
    "a bare assertion": _good,
}


@pytest.mark.parametrize("forgery", FORGERIES)
async def test_a_forged_response_is_refused(town: Town, ada: Person, forgery: str) -> None:
    idp, browser = await make_source(town), Browser(town)
    claim = Claim(in_response_to=(await idp.asked(browser)).get("ID"))
    answer = await idp.post(FORGERIES[forgery](idp, claim))
    assert answer.status_code == 400, answer.text[-1500:]
    assert await browser.who() is None


def rewrapped(idp: IdentityProvider, claim: Claim, kind: int) -> Any:
    """Signature wrapping, by the numbers that the literature gives the variants."""
    good, evil = _good(idp, claim), idp.assertion(Claim(name="admin", in_response_to=claim.in_response_to))
    inner, moved = copy.deepcopy(good), copy.deepcopy(good.find(xml.tag("ds:Signature")))
    inner.remove(inner.find(xml.tag("ds:Signature")))
    match kind:
        case 1 | 2:  # the signed response inside a forged one, or before it
            signed = idp.sign(idp.envelope(claim, inner))
            forged = idp.envelope(claim, evil)
            forged.insert(1, copy.deepcopy(signed.find(xml.tag("ds:Signature"))))
            (forged.find(xml.tag("ds:Signature")) if kind == 1 else forged).append(signed)
            return forged
        case 3:
            return idp.envelope(claim, evil, good)
        case 4:
            evil.append(good)
            return idp.envelope(claim, evil)
        case 5:
            evil.insert(1, moved)
            return idp.envelope(claim, evil, inner)
        case 6:
            moved.append(inner)
            evil.insert(1, moved)
            return idp.envelope(claim, evil)
        case 7:
            root = idp.envelope(claim, evil)
            xml.add(root, "samlp:Extensions").append(good)
            return root
    etree.SubElement(moved, xml.tag("ds:Object")).append(inner)
    evil.insert(1, moved)
    return idp.envelope(claim, evil)


@pytest.mark.parametrize("kind", range(1, 9))
async def test_wrapped_signatures_let_nobody_in(town: Town, kind: int) -> None:
    idp, browser = await make_source(town), Browser(town)
    claim = Claim(in_response_to=(await idp.asked(browser)).get("ID"))
    answer = await idp.post(rewrapped(idp, claim, kind))
    assert answer.status_code == 400, answer.text[-1500:]
    assert await browser.who() is None


async def test_a_signed_response_says_whom_it_is_for(town: Town) -> None:
    idp, browser = await make_source(town, signed_response=True), Browser(town)
    claim = Claim(in_response_to=(await idp.asked(browser)).get("ID"), destination=None)
    assert (await idp.post(idp.sign(idp.response(claim)))).status_code == 400


async def test_who_changes_ciphertexts_learns_nothing(town: Town, ada: Person) -> None:
    """Wrong keys, wrong padding, broken XML and wrong signatures inside all look the same from outside."""
    opens = pair("opens")
    idp = await make_source(town, encryption_kp=await store_pair(ada, opens))
    claim = Claim(in_response_to=(await idp.asked(Browser(town))).get("ID"))
    told = set()
    for place in (None, 0, 17, 40, -17, -1):
        root = idp.response(claim, encrypt_for=opens.certificate)
        value = root.find(
            f".//{xml.tag('xenc:EncryptedData')}/{xml.tag('xenc:CipherData')}/{xml.tag('xenc:CipherValue')}"
        )
        raw = bytearray(base64.b64decode(value.text))
        if place is not None:
            raw[place] ^= 1
            value.text = base64.b64encode(raw).decode()
        else:
            root = idp.envelope(claim, encryption.encrypt(idp.assertion(claim), opens.certificate))
        answer = await idp.post(root)
        assert answer.status_code == 400
        found = re.search(r"The assertion could not be decrypted|The signature[^<]*|The message[^<]*", answer.text)
        told.add(found[0] if found else answer.text)
    assert told == {"The assertion could not be decrypted"}


async def test_a_comment_in_a_name_changes_nothing(town: Town) -> None:
    idp, browser = await make_source(town), Browser(town)
    claim = Claim(in_response_to=(await idp.asked(browser)).get("ID"))
    kept = await idp.post(etree.fromstring(_comment(idp, claim)))
    assert kept.status_code == 302, kept.text[-1500:]
    await browser.http.get(kept.headers["location"])
    assert await browser.who() != "admin"


async def test_an_answer_counts_once_and_in_the_browser_that_asked(town: Town) -> None:
    idp, browser, stranger = await make_source(town), Browser(town), Browser(town)
    await idp.asked(stranger)
    root = idp.response(Claim(in_response_to=(await idp.asked(browser)).get("ID")))
    kept = await idp.post(root)
    assert (await idp.post(root)).status_code == 400, "an assertion counts once"
    assert (await stranger.http.get(kept.headers["location"])).status_code == 400
    assert (await browser.http.get(kept.headers["location"])).status_code == 400, "and so does what was kept"
    assert await stranger.who() is None
    other = await make_source(town)
    crossed = other.response(Claim(in_response_to=(await idp.asked(browser)).get("ID")))
    kept = await other.post(crossed)
    assert (await browser.http.get(kept.headers["location"])).status_code == 400, "another source was asked"


@pytest.mark.both_databases
async def test_an_answer_that_is_brought_back_several_times_at_once_counts_once(town: Town) -> None:
    idp = await make_source(town, allow_idp_initiated=True)
    claim = Claim(name=new_name("free").replace("-", "_"))
    first = await idp.post(idp.response(claim))
    await Browser(town).http.get(first.headers["location"])  # who has an account is signed in at once
    for _ in range(3):
        kept = await idp.post(idp.response(Claim(name=claim.name)))
        browsers = [Browser(town) for _ in range(6)]
        await asyncio.gather(*(browser.http.get("/about") for browser in browsers))
        await asyncio.gather(*(browser.http.get(kept.headers["location"]) for browser in browsers))
        assert [await browser.who() for browser in browsers].count(claim.name) == 1


async def another_certificate(ada: Person, idp: IdentityProvider, _name: str) -> None:
    key = await store_pair(ada, pair("stranger"), private=False)
    await ada.call("PATCH", f"{API}/sources/saml/{idp.source['pk']}/", json={"verification_kp": key})


async def another_issuer(ada: Person, idp: IdentityProvider, _name: str) -> None:
    await ada.call("PATCH", f"{API}/sources/saml/{idp.source['pk']}/", json={"idp_issuer": "https://new.example/"})


async def signed_out_there(_ada: Person, idp: IdentityProvider, name: str) -> None:
    request = LogoutRequest(id=new_id(), issuer="https://idp.example/", name_id=name, session_indexes=["_later"])
    message = xml.to_bytes(write_logout_request(request, datetime.now(UTC)))
    sent = bindings.write_query(f"{idp.path}slo/", "SAMLRequest", message, key=idp.keys.key)
    assert (await Browser(idp.town).http.get(sent)).status_code == 302


@pytest.mark.parametrize("ends", [another_certificate, another_issuer, signed_out_there])
async def test_what_was_posted_counts_as_long_as_what_it_was_believed_by(
    town: Town, ada: Person, ends: Callable[[Person, IdentityProvider, str], Awaitable[None]]
) -> None:
    idp, name, browser = await make_source(town), new_name("put-by").replace("-", "_"), Browser(town)
    await idp.sign_in(Browser(town), Claim(name=name))
    asked = (await idp.asked(browser)).get("ID")
    kept = await idp.post(idp.response(Claim(name=name, session_index="_later", in_response_to=asked)))

    await ends(ada, idp, name)

    assert (await browser.http.get(kept.headers["location"])).status_code == 400
    assert await browser.who() is None


async def test_what_was_posted_waits_for_one_redirect_only(town: Town) -> None:
    idp, name = await make_source(town, allow_idp_initiated=True), new_name("put-by").replace("-", "_")
    kept = await idp.post(idp.response(Claim(name=name, not_on_or_after=3000, confirmed_until=3000)))
    async with town.house() as house:
        clock = house.works.clock
        house.works.clock = lambda: clock() + COMES_ALONG + timedelta(seconds=5)
        async with house.works.begin() as work:
            key = kept.headers["location"].partition("arrival=")[2]
            assert await stored_requests.find(work, ARRIVAL, key) is None


async def test_nobody_comes_unasked_unless_the_source_allows_it(town: Town) -> None:
    strict, free = await make_source(town), await make_source(town, allow_idp_initiated=True)
    assert (await strict.post(strict.response(Claim()))).status_code == 400
    browser = Browser(town)
    for relay_state, to in (("/settings/security", "/settings/security"), ("https://evil.example/", "/")):
        browser = Browser(town)
        kept = await free.post(free.response(Claim(name=new_name("free").replace("-", "_"))), relay_state)
        answer = await browser.http.get(kept.headers["location"])
        assert answer.headers["location"] == to
        assert await browser.who() is not None


async def test_both_can_be_signed_and_the_assertion_encrypted(town: Town, ada: Person) -> None:
    opens = pair("opens")
    idp = await make_source(town, signed_response=True, encryption_kp=await store_pair(ada, opens))
    browser, name = Browser(town), new_name("sealed").replace("-", "_")
    claim = Claim(name=name, in_response_to=(await idp.asked(browser)).get("ID"))
    sealed = idp.response(claim, encrypt_for=opens.certificate)
    assert (await idp.post(sealed)).status_code == 400, "the response itself must be signed"
    assert (await idp.post(idp.sign(idp.response(claim)))).status_code == 400, "and the assertion encrypted"
    wrong = idp.sign(idp.response(claim, encrypt_for=pair("stranger").certificate))
    assert (await idp.post(wrong)).status_code == 400
    unsigned = idp.sign(idp.envelope(claim, encryption.encrypt(idp.assertion(claim), opens.certificate)))
    assert (await idp.post(unsigned)).status_code == 400, "what is inside must be signed too"
    kept = await idp.post(idp.sign(sealed))
    assert kept.status_code == 302, kept.text[-1500:]
    await browser.http.get(kept.headers["location"])
    assert await browser.who() == name


async def test_a_disabled_source_is_not_there(town: Town) -> None:
    idp = await make_source(town, enabled=False)
    for path in ("", "acs/", "metadata/", "slo/"):
        assert (await Browser(town).http.get(f"{idp.path}{path}")).status_code == 404


# Who it is


async def test_names_by_their_format(town: Town) -> None:
    idp, name = await make_source(town), new_name("win").replace("-", "_")
    browser = Browser(town)
    await idp.sign_in(browser, Claim(name=f"CORP\\{name}", name_format=WINDOWS))
    assert await browser.who() == name


async def test_who_is_signed_in_links_and_nobody_takes_it_over(town: Town, ada: Person) -> None:
    idp, name = await make_source(town), new_name("linked")
    person, browser = await signed_in(town)
    page = await browser.http.get(idp.path)
    assert page.status_code == 200, "a link elsewhere must not be enough to link an account"
    [user] = await results(ada, "/core/users/", username=person.username)
    assert await results(ada, "/sources/user_connections/saml/", user=user["pk"]) == []
    await idp.sign_in(Browser(town), Claim(name=name.replace("-", "_")))
    assert len(await results(ada, "/sources/user_connections/saml/", source__slug=idp.source["slug"])) >= 1


async def posted_to(idp: IdentityProvider, browser: Browser) -> Any:
    """Ask to link: the request that the browser is sent on with."""
    csrf = browser.http.cookies.get("kith_csrf") or ""
    sent = await browser.http.post(idp.path, data={"csrf": csrf})
    address = unescape(sent.text.partition('content="0;url=')[2].partition('"')[0]) or sent.headers["location"]
    message = bindings.read_query(urlsplit(address).query.encode(), "SAMLRequest")
    assert message is not None, sent.text[-1500:]
    return xml.parse(message.data)


async def test_linking_and_unlinking_at_the_settings(town: Town, ada: Person) -> None:
    idp, name = await make_source(town), new_name("linked").replace("-", "_")
    person, browser = await signed_in(town)
    await browser.http.get(idp.path)
    unproven = await browser.http.post(idp.path, data={"csrf": "x"})
    request = await posted_to(idp, browser)
    kept = await idp.post(idp.response(Claim(name=name, in_response_to=request.get("ID"))))
    linked = await browser.http.get(kept.headers["location"])
    assert unproven.status_code == 403
    assert linked.headers["location"] == "/settings/security#sources", linked.text[-1500:]
    assert idp.source["name"] in (await browser.http.get("/settings/security")).text
    fresh = Browser(town)
    await idp.sign_in(fresh, Claim(name=name))
    assert await fresh.who() == person.username
    [user] = await results(ada, "/core/users/", username=person.username)
    [connection] = await results(ada, "/sources/user_connections/saml/", user=user["pk"])
    assert connection["identifier"] == name
    actions = [one["action"] for one in await results(ada, "/audit/events/", username=person.username)]
    assert "source_linked" in actions
    unlink = f"/settings/security/sources/{connection['pk']}/unlink"
    done = await browser.http.post(unlink, data={"csrf": browser.http.cookies.get("kith_csrf")})
    assert done.status_code == 303
    assert await results(ada, "/sources/user_connections/saml/", user=user["pk"]) == []


async def test_an_account_of_somebody_else_is_not_linked(town: Town, ada: Person) -> None:
    idp, name = await make_source(town), new_name("taken").replace("-", "_")
    await idp.sign_in(Browser(town), Claim(name=name))
    person, browser = await signed_in(town)
    await browser.http.get(idp.path)
    request = await posted_to(idp, browser)
    kept = await idp.post(idp.response(Claim(name=name, in_response_to=request.get("ID"))))
    answer = await browser.http.get(kept.headers["location"])
    assert answer.status_code == 403
    assert "linked to another person" in answer.text
    assert await browser.who() == person.username
    request = await posted_to(idp, browser)
    other = idp.response(Claim(name=new_name("x").replace("-", "_"), in_response_to=request.get("ID")))
    kept = await idp.post(other)
    crossed = await Browser(town).http.get(kept.headers["location"])
    assert crossed.status_code == 400, "the answer to a link counts in the browser that asked"


async def flow_with(ada: Person, *stages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    flow = await make_flow(ada, "stage_setup", authentication="none", **fields)
    for order, stage in enumerate(stages):
        await make_binding(ada, flow, stage, order=order)
    return flow


async def test_a_flow_is_run_before_people_are_sent_away(town: Town, ada: Person) -> None:
    prompt = await make(
        ada, "/stages/prompt/prompts/", name=new_name("p"), field_key="rules", label="I read it", type="checkbox",
        placeholder="x", required=True,
    )  # fmt: skip
    form = await make(ada, "/stages/prompt/stages/", name=new_name("rules"), fields=[prompt["pk"]])
    flow = await flow_with(ada, form)
    idp, name = await make_source(town, pre_authentication_flow=flow["pk"]), new_name("rule").replace("-", "_")
    browser = Browser(town)
    shown = await browser.http.get(idp.path, params={"next": "/settings/security"})
    assert shown.headers["location"] == f"/flows/{flow['slug']}/"
    assert (await browser.http.get(idp.path, params={"passed": "guessed"})).status_code == 400
    assert (await browser.see(flow["slug"]))["component"] == "prompt"
    done = await browser.answer(flow["slug"], component="prompt", rules=True)
    assert done["component"] == "redirect"
    onward = done["to"]
    assert onward.startswith(f"{idp.path}?passed=")
    stranger = Browser(town)
    await stranger.http.get(idp.path)
    assert (await stranger.http.get(onward)).status_code == 400, "it counts in the browser that ran the flow"
    sent = await browser.http.get(onward)
    assert sent.headers["location"].startswith(SSO), sent.text[-1500:]
    assert (await browser.http.get(onward)).status_code == 400, "and once"
    message = bindings.read_query(urlsplit(sent.headers["location"]).query.encode(), "SAMLRequest")
    assert message is not None
    asked = xml.parse(message.data).get("ID")
    kept = await idp.post(idp.response(Claim(name=name, in_response_to=asked)))
    answer = await browser.http.get(kept.headers["location"])
    assert answer.headers["location"] == "/settings/security"
    assert await browser.who() == name


async def test_an_empty_flow_shows_nothing_and_a_refusing_one_sends_nobody(town: Town, ada: Person) -> None:
    empty = await make_source(town, pre_authentication_flow=(await flow_with(ada))["pk"])
    browser = Browser(town)
    first = await browser.http.get(empty.path)
    sent = await browser.http.get(first.headers["location"])
    assert sent.headers["location"].startswith(SSO)
    refusing = await flow_with(ada, await make_stage(ada, "deny", deny_message="Not today."))
    closed = await make_source(town, pre_authentication_flow=refusing["pk"])
    answer = await Browser(town).http.get(closed.path)
    assert answer.status_code == 403
    assert "Not today." in answer.text


async def test_people_with_a_transient_name_are_removed(town: Town, ada: Person) -> None:
    idp = await make_source(town, name_id_policy=TRANSIENT, temporary_user_delete_after="seconds=1")
    browser = Browser(town)
    await idp.sign_in(browser, Claim(name=new_id(), name_format=TRANSIENT))
    name = await browser.who()
    assert name is not None
    assert name.endswith("-transient")
    async with town.house() as house:
        while await results(ada, "/core/users/", username=name):
            async with house.works.begin() as work:
                work.enqueue(SWEEP, TransientSweep())
            assert await browser.who() in (name, None)


# Signing out


async def sign_out(browser: Browser) -> httpx.Response:
    page = await browser.http.get("/flows/default-invalidation-flow/")
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found is not None
    form = {"csrf": found[1], "component": "sign-out"}
    return await browser.http.post("/flows/default-invalidation-flow/", data=form)


async def test_signing_out_here_asks_the_identity_provider_to_do_the_same(town: Town) -> None:
    slo = "https://idp.example/slo"
    idp, name = await make_source(town, slo_url=slo), new_name("out").replace("-", "_")
    browser = Browser(town)
    await idp.sign_in(browser, Claim(name=name, session_index="_there"))
    done = await sign_out(browser)
    assert await browser.who() is None
    found = re.search(rf'{slo}\?[^"\s]+', unescape(done.headers.get("location") or done.text))
    assert found is not None, done.text[-1500:]
    message = bindings.read_query(urlsplit(found[0]).query.encode(), "SAMLRequest")
    assert message is not None
    bindings.verify_query(message, certificate=pair("us at the idp").certificate)
    told = read_logout_request(xml.parse(message.data))
    assert (told.name_id, told.session_indexes, told.destination) == (name, ["_there"], slo)
    assert told.issuer == idp.entity_id
    response = LogoutResponse(id=new_id(), issuer="https://idp.example/", in_response_to=told.id)
    back = bindings.write_query(
        f"{idp.path}slo/", "SAMLResponse", xml.to_bytes(write_logout_response(response, datetime.now(UTC)))
    )
    assert (await browser.http.get(back)).headers["location"] == "/"


async def test_who_did_not_come_from_there_is_not_sent_there(town: Town) -> None:
    await make_source(town, slo_url="https://idp.example/slo")
    _, browser = await signed_in(town)
    done = await sign_out(browser)
    assert "idp.example" not in done.text + done.headers.get("location", "")


async def test_the_identity_provider_signs_people_out(town: Town) -> None:
    idp, name, index = (
        await make_source(town, slo_url="https://idp.example/slo"),
        new_name("bye").replace("-", "_"),
        "_i1",
    )
    browser = Browser(town)
    await idp.sign_in(browser, Claim(name=name, session_index=index))
    assert await browser.who() == name

    def logout(ago: int = 0, **more: Any) -> bytes:
        given = {"id": new_id(), "issuer": "https://idp.example/", "name_id": name, "session_indexes": [index]} | more
        at = datetime.now(UTC) - timedelta(seconds=ago)
        return xml.to_bytes(write_logout_request(LogoutRequest(**given), at))

    slo, http = f"{idp.path}slo/", Browser(town).http
    unsigned = bindings.write_query(slo, "SAMLRequest", logout())
    forged = bindings.write_query(slo, "SAMLRequest", logout(), key=pair("stranger").key)
    other = bindings.write_query(slo, "SAMLRequest", logout(session_indexes=["_other"]), key=idp.keys.key)
    kept = bindings.write_query(slo, "SAMLRequest", logout(ago=600), key=idp.keys.key)
    ahead = bindings.write_query(slo, "SAMLRequest", logout(ago=-600), key=idp.keys.key)
    assert [(await http.get(url)).status_code for url in (unsigned, forged, kept, ahead)] == [400] * 4
    await http.get(other)
    assert await browser.who() == name, "another session is not ended"
    answer = await http.get(bindings.write_query(slo, "SAMLRequest", logout(), key=idp.keys.key, relay_state="r"))
    assert answer.headers["location"].startswith("https://idp.example/slo?SAMLResponse=")
    assert await browser.who() is None
