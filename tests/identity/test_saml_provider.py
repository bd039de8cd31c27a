"""Signing in at services by SAML: what they ask, who gets in, and what they are told."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from kith.identity.saml import encryption, signatures, xml
from kith.identity.saml.errors import BadSignature
from kith.identity.saml.names import (
    CONTEXT_PASSWORD_PROTECTED,
    CONTEXT_TWO_FACTOR,
    EMAIL,
    PERSISTENT,
    TRANSIENT,
    UNSPECIFIED,
    WINDOWS,
    X509_SUBJECT,
)
from tests.identity.flow_browser import Browser
from tests.identity.records import API, make, make_binding, make_flow, make_stage, new_name, owner_of, results
from tests.identity.relying_party import signed_in
from tests.identity.saml_keys import pair
from tests.identity.saml_services import (
    ACS,
    Service,
    attributes_of,
    authn_request,
    in_context,
    make_service,
    mapping,
    message_of,
    name_of,
    next_of,
    statuses,
    store_pair,
    wants,
    with_query,
)
from tests.town import Person, Town


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def events(owner: Person, action: str, slug: str) -> list[dict[str, Any]]:
    found = await results(owner, "/audit/events/", action=action)
    return [one for one in found if slug in str(one["context"])]


# The way in


async def test_somebody_signs_in_and_is_asserted(town: Town, ada: Person) -> None:
    service, person, browser = await make_service(town), await town.sign_up(), Browser(town)
    asked = await service.ask(browser, authn_request(f'AssertionConsumerServiceURL="{ACS}"', id="42"), "a&b ü")
    assert asked.status_code == 303
    onward = next_of(asked)
    await browser.sign_in(person)
    answer = await browser.http.get(onward)

    _, relay_state, to = message_of(answer)
    assert (relay_state, to) == ("a&b ü", ACS)
    assert f"form-action {ACS.removesuffix('/acs')}" in answer.headers["content-security-policy"]
    root, assertion = service.read(answer), service.assertion(answer)
    assert (root.get("InResponseTo"), root.get("Destination"), statuses(root)) == ("_r42", ACS, ["Success"])
    data = assertion.find(f".//{xml.tag('saml:SubjectConfirmationData')}")
    assert (data.get("InResponseTo"), data.get("Recipient")) == ("_r42", ACS)
    assert xml.text_of(assertion.find(f".//{xml.tag('saml:Audience')}")) == "https://sp.example/"
    assert xml.text_of(xml.only(assertion, "saml:Issuer")) == service.provider["issuer"]
    statement = xml.only(assertion, "saml:AuthnStatement")
    assert statement.get("AuthnInstant").endswith("Z")
    assert len(statement.get("SessionIndex")) == 64
    context = statement.find(f".//{xml.tag('saml:AuthnContextClassRef')}")
    assert xml.text_of(context) == CONTEXT_PASSWORD_PROTECTED
    [event] = await events(ada, "authorize_application", service.slug)
    [user] = await results(ada, "/core/users/", username=person.username)
    assert event["user"] == user["pk"]
    assert (await browser.http.get(onward)).status_code == 400, "a stored request is answered once"


async def test_a_posted_request_needs_no_cookie(town: Town) -> None:
    service = await make_service(town)
    _, browser = await signed_in(town)
    kept = await service.post(browser, authn_request(id="7"), "state")
    assert kept.status_code == 303
    assert kept.headers["location"].startswith(service.path)
    answer = await browser.http.get(kept.headers["location"])
    assert message_of(answer)[1] == "state"
    assert service.read(answer).get("InResponseTo") == "_r7"


async def test_the_unified_address_takes_both_bindings(town: Town) -> None:
    service = await make_service(town)
    _, browser = await signed_in(town)
    query = service.redirect(authn_request()).partition("?")[2]
    service.assertion(await browser.http.get(f"{service.path}?{query}"))
    form = {"SAMLRequest": base64.b64encode(authn_request().encode()).decode()}
    kept = await browser.http.post(service.path, data=form)
    service.assertion(await browser.http.get(kept.headers["location"]))


@pytest.mark.parametrize("path", ["init/", "sso/binding/init/"])
async def test_the_person_can_start_here(town: Town, path: str) -> None:
    service = await make_service(town, default_relay_state="https://sp.example/start?a=1")
    _, browser = await signed_in(town)
    answer = await browser.http.get(f"{service.path}{path}")
    assert message_of(answer)[1] == "https://sp.example/start?a=1"
    assert service.read(answer).get("InResponseTo") is None
    confirmed = service.assertion(answer).find(f".//{xml.tag('saml:SubjectConfirmationData')}")
    assert confirmed.get("InResponseTo") is None


async def test_the_answer_can_travel_by_redirect(town: Town) -> None:
    service = await make_service(town, sp_binding="redirect", sign_response=True)
    _, browser = await signed_in(town)
    answer = await service.ask(browser, relay_state="x")
    assert answer.headers["location"].startswith(f"{ACS}?SAMLResponse=")
    assert "&RelayState=x&SigAlg=" in answer.headers["location"]
    service.assertion(answer)


async def test_an_application_that_is_none_of_saml_is_not_found(town: Town) -> None:
    browser = Browser(town)
    for path in ("nothing/", "nothing/metadata/", "nothing/init/", "nothing/slo/binding/redirect/"):
        assert (await browser.http.get(f"/application/saml/{path}")).status_code == 404


# What is refused before anybody signs in


@pytest.mark.parametrize(
    ("request_text", "words"),
    [
        ("", "The SAML request payload is missing."),
        ("<a", "not well-formed"),
        ("<!DOCTYPE a><a/>", "document type"),
        (authn_request(f'AssertionConsumerServiceURL="{ACS}/"'), "names another address"),
        (authn_request(f'AssertionConsumerServiceURL="{ACS.replace("acs", "ACS")}"'), "names another address"),
        (authn_request('AssertionConsumerServiceURL="https://sp.example:443/acs"'), "names another address"),
        (authn_request('AssertionConsumerServiceURL="javascript:alert(1)"'), "names another address"),
        (authn_request('Destination="https://other.example/"'), "meant for another address"),
        (authn_request().replace('"2.0"', '"1.1"'), "Only SAML 2.0"),
        (authn_request().replace("AuthnRequest", "LogoutRequest"), "not of the kind AuthnRequest"),
    ],
)
async def test_a_bad_request_is_told_on_a_page(town: Town, ada: Person, request_text: str, words: str) -> None:
    service, browser = await make_service(town), Browser(town)
    answer = await (
        browser.http.get(f"{service.path}sso/binding/redirect/")
        if not request_text
        else service.ask(browser, request_text)
    )
    assert (answer.status_code, words in answer.text) == (400, True), answer.text[-800:]
    posted = await service.post(browser, request_text)
    assert (posted.status_code, words in posted.text) == (400, True)
    told = await events(ada, "configuration_error", service.slug) + await events(
        ada, "suspicious_request", service.slug
    )
    assert any(words in one["context"]["message"] for one in told)


@pytest.mark.parametrize("field", ["verification_kp", "require_signing"])
async def test_requests_must_be_signed_where_the_provider_says_so(town: Town, ada: Person, field: str) -> None:
    theirs, strangers = (pair("sp") if field == "verification_kp" else pair("idp")), pair("stranger")
    given = {field: await store_pair(ada, theirs, private=False)} if field == "verification_kp" else {field: True}
    service = await make_service(town, **given)
    _, browser = await signed_in(town)
    signed = {"key": theirs.key, "algorithm": "rsa-sha256"}
    service.assertion(await service.ask(browser, **signed))

    for wrong in ({}, {"key": strangers.key}, {"key": theirs.key, "algorithm": "rsa-sha1"}):
        assert (await service.ask(browser, **wrong)).status_code == 400
    query = service.redirect(authn_request(), "one", **signed).replace("RelayState=one", "RelayState=two")
    assert (await browser.http.get(query)).status_code == 400
    assert (await service.post(browser, authn_request())).status_code == 400

    element = xml.parse(authn_request(id="9").encode())
    made = signatures.sign(
        element, key=theirs.key, certificate=theirs.certificate, signature="rsa-sha256", digest="sha256"
    )
    text = xml.to_bytes(made).decode()
    kept = await service.post(browser, text)
    assert kept.status_code == 303, kept.text
    service.assertion(await browser.http.get(kept.headers["location"]))
    forged = text.replace("https://sp.example/", "https://evil.example/")
    assert (await service.post(browser, forged)).status_code == 400
    metadata = (await browser.http.get(f"{service.path}metadata/")).text
    assert 'WantAuthnRequestsSigned="true"' in metadata


async def test_weak_signatures_are_taken_where_the_provider_uses_them(town: Town, ada: Person) -> None:
    theirs = pair("sp")
    service = await make_service(
        town, verification_kp=await store_pair(ada, theirs), signature_algorithm="rsa-sha1", digest_algorithm="sha1"
    )
    _, browser = await signed_in(town)
    answer = await service.ask(browser, key=theirs.key, algorithm="rsa-sha1")
    found = xml.only(service.read(answer), "saml:Assertion")
    with pytest.raises(BadSignature):
        signatures.verify(found, certificate=service.keys.certificate)
    signatures.verify(found, certificate=service.keys.certificate, allow_sha1=True)


# Who gets in


async def test_a_policy_refuses_with_words_and_a_code(town: Town, ada: Person) -> None:
    service = await make_service(town)
    policy = await make(
        ada,
        "/policies/expression/",
        name=new_name("no"),
        expression='ak_message("Only for the <choir>")\nreturn context["saml_issuer"] == "x"',
    )
    await make(ada, "/policies/bindings/", policy=policy["pk"], target=service.application["pk"], order=0)
    _, browser = await signed_in(town)
    answer = await service.ask(browser)
    assert answer.status_code == 403
    assert "Only for the &lt;choir&gt;" in answer.text
    [refused] = await events(ada, "authorization_refused", service.slug)
    code = refused["context"]["refusal"]
    assert code in answer.text
    assert "Only for the" in await town.kith("why", code)
    silent = await service.ask(browser, authn_request('IsPassive="true"'))
    assert statuses(service.read(silent)) == ["Responder", "RequestDenied"]


async def test_a_provider_without_an_application_leads_nowhere(town: Town, ada: Person) -> None:
    service = await make_service(town)
    await ada.call("DELETE", f"{API}/core/applications/{service.application['pk']}/")
    _, browser = await signed_in(town)
    assert (await service.ask(browser)).status_code == 404
    assert (await ada.get(f"{API}/providers/saml/{service.provider['pk']}/metadata/")).status_code == 404


async def test_the_flow_asks_and_its_end_is_proven(town: Town, ada: Person) -> None:
    flow = await make_flow(ada, "authorization")
    await make_binding(ada, flow, await make_stage(ada))
    service = await make_service(town, authorization_flow=flow["pk"])
    _, browser = await signed_in(town)
    asked = await service.ask(browser)
    assert asked.headers["location"] == f"/flows/{flow['slug']}/"
    done = await browser.answer(flow["slug"], component="dummy")
    answer = await browser.http.get(done["to"])
    service.assertion(answer)

    again = await service.ask(browser)
    assert again.headers["location"].startswith("/flows/"), "each request is asked for"
    forged = with_query(done["to"].partition("&")[0], proof="wrong")
    assert (await browser.http.get(forged)).status_code == 400
    silent = await service.ask(browser, authn_request('IsPassive="true"'))
    assert statuses(service.read(silent)) == ["Responder", "NoPassive"]


async def test_nobody_is_asked_where_nobody_may_be_asked(town: Town) -> None:
    service = await make_service(town, sign_response=True)
    answer = await service.ask(Browser(town), authn_request('IsPassive="1"', id="p"))
    root = signatures.verify(service.read(answer), certificate=service.keys.certificate)
    assert statuses(root) == ["Responder", "NoPassive"]
    assert root.get("InResponseTo") == "_rp"
    assert xml.children(root, "saml:Assertion") == []


async def test_a_new_sign_in_can_be_asked_for(town: Town) -> None:
    service = await make_service(town)
    person, browser = await signed_in(town)
    forced = authn_request('ForceAuthn="true"')
    asked = await service.ask(browser, forced)
    onward = next_of(asked)
    assert "again=true" in asked.headers["location"]
    assert (await browser.http.get(onward)).headers["location"].startswith("/flows/"), "the old one does not do"
    flow = asked.headers["location"].split("/")[2]
    query = {"next": onward, "again": "true"}
    await browser.see(flow, **query)
    await browser.answer(flow, query, component="identification", uid_field=person.username)
    await browser.answer(flow, query, component="password", password=person.password)
    service.assertion(await browser.http.get(onward))
    both = await service.ask(browser, authn_request('ForceAuthn="true" IsPassive="true"'))
    assert statuses(service.read(both)) == ["Responder", "NoPassive"]


async def test_who_cancels_is_told_to_the_service(town: Town) -> None:
    service, browser = await make_service(town), Browser(town)
    asked = await service.ask(browser)
    left = await browser.http.get(f"/flows/-/cancel/?flow={asked.headers['location'].split('/')[2]}")
    answer = await browser.http.get(left.headers["location"])
    assert statuses(service.read(answer)) == ["Responder", "AuthnFailed"]


# What is told


async def test_names_by_their_format(town: Town, ada: Person) -> None:
    person, browser = await signed_in(town)
    [user] = await results(ada, "/core/users/", username=person.username)
    attributes = {"upn": "ada@corp", "distinguishedName": "cn=ada,dc=x"}
    await ada.call("PATCH", f"{API}/core/users/{user['pk']}/", json={"attributes": attributes})
    one, two = await make_service(town), await make_service(town, name_id_per_service=True)

    async def name(service: Service, name_format: str) -> tuple[str, str]:
        return name_of(service.assertion(await service.ask(browser, authn_request(inside=wants(name_format)))))

    assert await name(one, EMAIL) == (user["email"], EMAIL)
    assert await name(one, WINDOWS) == ("ada@corp", WINDOWS)
    assert await name(one, X509_SUBJECT) == ("cn=ada,dc=x", X509_SUBJECT)
    assert await name(one, WINDOWS.replace("1.1", "2.0")) == ("ada@corp", WINDOWS)
    lasting = await name(one, PERSISTENT)
    assert lasting == (user["uid"], PERSISTENT)
    assert await name(one, UNSPECIFIED) == (user["uid"], UNSPECIFIED)
    assert (await name(two, PERSISTENT))[0] != lasting[0], "services cannot compare people"
    passing = await name(one, TRANSIENT)
    assert passing == await name(one, TRANSIENT), "the same within one session"
    assert (await name(two, TRANSIENT))[0] != passing[0]
    other = Browser(town)
    await other.sign_in(person)
    request = authn_request(inside=wants(TRANSIENT))
    assert name_of(one.assertion(await one.ask(other, request)))[0] != passing[0], "and another in the next"


async def test_an_unknown_name_format_gets_no_assertion(town: Town, ada: Person) -> None:
    service = await make_service(town)
    _, browser = await signed_in(town)
    odd = wants("urn:oasis:names:tc:SAML:2.0:nameid-format:kerberos")
    for visitor in (browser, Browser(town)):
        root = service.read(await service.ask(visitor, authn_request(inside=odd)))
        assert statuses(root) == ["Requester", "InvalidNameIDPolicy"]
        assert xml.children(root, "saml:Assertion") == []
    assert await events(ada, "configuration_error", service.slug)
    other = "<saml:Subject><saml:NameID>somebody else</saml:NameID></saml:Subject>"
    answer = await service.ask(browser, authn_request(inside=other))
    assert statuses(service.read(answer)) == ["Requester", "UnknownPrincipal"]


async def test_mappings_say_what_is_told(town: Town, ada: Person) -> None:
    hostile = '<b>&"\\n\\u0001]]><!-- x -->'
    mappings = {
        "list": "return ['a', 'b']",
        "yields": "for word in ['c', 'd']:\n    yield word\nif False:\n    yield 'e'",
        "none": "return None",
        "number": "return 7",
        "truth": "return True",
        "hostile": f"return '{hostile}'",
        "broken": "return user.nothing.at.all",
        "name": "return user.username + ' at ' + provider['name']",
    }
    keys = [await mapping(town, body, name) for name, body in mappings.items()]
    naming = await mapping(town, "return 'the-' + user.username")
    context = await mapping(town, "return 'urn:example:by-hand'")
    service = await make_service(
        town, property_mappings=keys, name_id_mapping=naming, authn_context_class_ref_mapping=context
    )
    person, browser = await signed_in(town)
    assertion = service.assertion(await service.ask(browser))
    assert attributes_of(assertion) == {
        "hostile": ['<b>&"\n\ufffd]]><!-- x -->'],
        "list": ["a", "b"],
        "name": [f"{person.username} at {service.provider['name']}"],
        "number": ["7"],
        "truth": ["true"],
        "yields": ["c", "d"],
    }
    assert name_of(assertion)[0] == f"the-{person.username}"
    told = assertion.find(f".//{xml.tag('saml:AuthnContextClassRef')}")
    assert xml.text_of(told) == "urn:example:by-hand"
    [event] = await events(ada, "property_mapping_exception", service.slug)
    assert event["context"]["mapping"]["name"].startswith("attribute-")

    [user] = await results(ada, "/core/users/", username=person.username)
    shown = await ada.get(f"{API}/providers/saml/{service.provider['pk']}/preview_user/?for_user={user['pk']}")
    preview = shown.json()["preview"]
    assert preview["nameID"] == f"the-{person.username}"
    shown_values = {one["Name"]: [xml.writable(text) for text in one["Value"]] for one in preview["attributes"]}
    assert shown_values == attributes_of(assertion)
    assert (await person.get(f"{API}/providers/saml/{service.provider['pk']}/preview_user/")).status_code == 403


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        (in_context(CONTEXT_PASSWORD_PROTECTED), CONTEXT_PASSWORD_PROTECTED),
        (in_context("urn:other", CONTEXT_PASSWORD_PROTECTED), CONTEXT_PASSWORD_PROTECTED),
        (in_context(CONTEXT_TWO_FACTOR), None),
        (in_context(CONTEXT_PASSWORD_PROTECTED, comparison="minimum"), CONTEXT_PASSWORD_PROTECTED),
        (in_context(CONTEXT_TWO_FACTOR, comparison="minimum"), None),
        (in_context(CONTEXT_PASSWORD_PROTECTED, comparison="better"), None),
        (in_context(CONTEXT_TWO_FACTOR, comparison="maximum"), CONTEXT_PASSWORD_PROTECTED),
        (in_context("urn:other", comparison="minimum"), None),
    ],
)
async def test_how_somebody_signed_in_can_be_asked_for(town: Town, inside: str, told: str | None) -> None:
    service = await make_service(town)
    _, browser = await signed_in(town)
    root = service.read(await service.ask(browser, authn_request(inside=inside)))
    if told is None:
        assert statuses(root) == ["Responder", "NoAuthnContext"]
    else:
        assert xml.text_of(root.find(f".//{xml.tag('saml:AuthnContextClassRef')}")) == told


async def test_both_can_be_signed_and_the_assertion_encrypted(town: Town, ada: Person) -> None:
    theirs = pair("sp")
    service = await make_service(town, sign_response=True, encryption_kp=await store_pair(ada, theirs, private=False))
    person, browser = await signed_in(town)
    answer = await service.ask(browser, authn_request(inside=wants(EMAIL)))
    assert person.username.encode() not in message_of(answer)[0]
    root = signatures.verify(service.read(answer), certificate=service.keys.certificate)
    inside = encryption.decrypt(xml.only(root, "saml:EncryptedAssertion"), theirs.key)
    assertion = signatures.verify(inside, certificate=service.keys.certificate)
    assert name_of(assertion)[0].startswith(person.username)


@pytest.mark.parametrize(
    ("kind", "algorithm", "digest"),
    [
        ("ec", "ecdsa-sha256", "sha256"),
        ("ec", "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512", "sha384"),
        ("rsa", "rsa-sha512", "http://www.w3.org/2001/04/xmlenc#sha512"),
        ("dsa", "dsa-sha1", "sha1"),
    ],
)
async def test_other_keys_sign_as_well(town: Town, kind: str, algorithm: str, digest: str) -> None:
    keys = pair(f"idp-{kind}", kind)
    service = await make_service(town, keys=keys, signature_algorithm=algorithm, digest_algorithm=digest)
    _, browser = await signed_in(town)
    found = xml.only(service.read(await service.ask(browser)), "saml:Assertion")
    signatures.verify(found, certificate=keys.certificate, allow_sha1=kind == "dsa")


# Metadata


async def test_metadata_is_signed_and_names_every_address(town: Town, ada: Person) -> None:
    service = await make_service(town)
    answer = await Browser(town).http.get(f"{service.path}metadata/")
    assert answer.headers["content-type"] == "application/xml"
    assert answer.headers["content-disposition"].startswith("attachment")
    root = signatures.verify(xml.parse(answer.content), certificate=service.keys.certificate)
    assert root.get("entityID") == service.provider["issuer"]
    told = {one.get("Location") for one in root.iter() if one.get("Location")}
    record = (await ada.get(f"{API}/providers/saml/{service.provider['pk']}/")).json()
    assert told == {record[name] for name in ("url_sso_post", "url_sso_redirect", "url_slo_post", "url_slo_redirect")}
    saved = await ada.get(f"{API}/providers/saml/{service.provider['pk']}/metadata/?download")
    assert saved.headers["content-disposition"].startswith("attachment")
    shown = (await ada.get(f"{API}/providers/saml/{service.provider['pk']}/metadata/")).json()
    assert shown["metadata"].encode() == answer.content
    assert shown["download_url"].endswith("/metadata/?download")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<a", "Invalid XML Syntax"),
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "Failed to import Metadata"),
        (b"<a/>", "Failed to import Metadata"),
        (b"x" * 300_000, ""),
    ],
)
async def test_metadata_that_cannot_be_imported(town: Town, ada: Person, content: bytes, words: str) -> None:
    before = len(await results(ada, "/providers/saml/"))
    answer = await ada.call(
        "POST",
        f"{API}/providers/saml/import_metadata/",
        data={"name": new_name("imported")},
        files={"file": ("sp.xml", content, "application/xml")},
    )
    # 413 of the longest alone.
    assert answer.status_code in (400, 413), answer.text
    assert words in answer.text
    assert len(await results(ada, "/providers/saml/")) == before
    nameless = await ada.call("POST", f"{API}/providers/saml/import_metadata/", data={"name": ""})
    assert nameless.status_code == 400
