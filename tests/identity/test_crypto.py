"""Certificates and keys, as an administrator keeps them."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from kith.identity.crypto.certificates import LONGEST_KEY, Unreadable, examine, generate, read_alternative
from tests import dear_keys
from tests.town import Town
from tests.town.people import Person

PAIRS = "/api/v2/crypto/certificatekeypairs/"
NOW = datetime(2026, 1, 2, tzinfo=UTC)
CERTIFICATE, KEY = generate("first.example", [], 30, "ecdsa", NOW)
OTHER_CERTIFICATE, OTHER_KEY = generate("second.example", [], 30, "ed25519", NOW)
LOCKED_KEY = (
    load_pem_private_key(KEY.encode(), None)
    .private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x"))
    .decode()
)


def new_name() -> str:
    return f"pair {uuid.uuid4().hex[:8]}"


async def keep(ada: Person, certificate: str = CERTIFICATE, key: str = KEY, **more: Any) -> dict[str, Any]:
    sent = {"name": new_name(), "certificate_data": certificate, "key_data": key, **more}
    answer = await ada.call("POST", PAIRS, json=sent)
    assert answer.status_code == 201, answer.text
    kept: dict[str, Any] = answer.json()
    return kept


@pytest.mark.parametrize(
    ("alg", "key_type"), [("rsa", "rsa"), ("ecdsa", "ec"), ("ed25519", "ed25519"), ("ed448", "ed448")]
)
def test_what_is_generated_can_be_examined(alg: str, key_type: str) -> None:
    names = [read_alternative(text) for text in ("www.example", "192.0.2.1", "ada@example.org", "https://e.example/x")]
    certificate, key = generate("Großer Name", names, 10, alg, NOW)

    facts = examine(certificate, key)

    assert facts.key_type == key_type
    assert facts.cert_expiry == NOW + timedelta(days=10)
    assert facts.cert_subject == "O=Kith,CN=Großer Name"
    assert facts.private_key_available


async def test_a_pair_tells_its_facts_and_never_its_contents(town: Town) -> None:
    ada = await town.owner()

    made = await keep(ada)
    read = (await ada.get(f"{PAIRS}{made['pk']}/")).json()
    [listed] = (await ada.get(PAIRS, params={"search": made["name"].split()[1]})).json()["results"]

    assert made == read == listed
    assert made["pk"] == made["kp_uuid"]
    assert made["fingerprint_sha256"] == x509.load_pem_x509_certificate(CERTIFICATE.encode()).fingerprint(
        hashes.SHA256()
    ).hex(":")
    assert made["fingerprint_sha1"].count(":") == 19
    assert datetime.fromisoformat(made["cert_expiry"]) == NOW + timedelta(days=30)
    assert made["cert_subject"] == "O=Kith,CN=first.example"
    assert (made["private_key_available"], made["key_type"], made["managed"]) == (True, "ec", None)
    item = f"{town.base_url}{PAIRS}{made['pk']}"
    assert made["certificate_download_url"] == f"{item}/view_certificate/?download"
    assert made["private_key_download_url"] == f"{item}/view_private_key/?download"
    assert not {"certificate_data", "key_data"} & set(made)


@pytest.mark.parametrize(
    ("sent", "complaints"),
    [
        ({}, {"certificate_data": ["This field is required."]}),
        ({"certificate_data": "nonsense"}, {"certificate_data": ["Unable to load certificate."]}),
        ({"certificate_data": KEY}, {"certificate_data": ["Unable to load certificate."]}),
        (
            {"certificate_data": CERTIFICATE, "key_data": "nonsense"},
            {"key_data": ["Unable to load private key (possibly encrypted?)."]},
        ),
        (
            {"certificate_data": CERTIFICATE, "key_data": LOCKED_KEY},
            {"key_data": ["Unable to load private key (possibly encrypted?)."]},
        ),
        (
            {"certificate_data": CERTIFICATE, "key_data": OTHER_KEY},
            {"key_data": ["The private key does not belong to the certificate."]},
        ),
    ],
)
async def test_what_cannot_be_read_is_refused(
    town: Town, sent: dict[str, Any], complaints: dict[str, list[str]]
) -> None:
    ada = await town.owner()

    answer = await ada.call("POST", PAIRS, json={"name": new_name(), **sent})

    assert (answer.status_code, answer.json()) == (400, complaints)


def test_what_is_dear_to_read_is_not_read() -> None:
    certificate = x509.load_der_x509_certificate(dear_keys.certificate()).public_bytes(Encoding.PEM).decode()
    key = dear_keys.public_pem().replace("PUBLIC", "PRIVATE")
    begun = time.process_time()
    for pair in ((certificate, ""), (CERTIFICATE, key), (CERTIFICATE, "x" * (LONGEST_KEY + 1))):
        with pytest.raises(Unreadable):
            examine(*pair)

    assert time.process_time() - begun < 0.5  # several seconds, if the library looks at it


async def test_certificate_and_key_change_together_or_not_at_all(town: Town) -> None:
    ada = await town.owner()
    made = await keep(ada)
    item = f"{PAIRS}{made['pk']}/"

    renamed = await ada.call("PATCH", item, json={"name": new_name()})
    alone = await ada.call("PATCH", item, json={"certificate_data": OTHER_CERTIFICATE})
    together = await ada.call("PUT", item, json=made | {"certificate_data": OTHER_CERTIFICATE, "key_data": OTHER_KEY})
    without = await ada.call("PATCH", item, json={"key_data": ""})

    assert renamed.json()["fingerprint_sha256"] == made["fingerprint_sha256"]
    assert alone.json() == {"certificate_data": ["The private key does not belong to the certificate."]}
    assert (together.json()["key_type"], together.json()["private_key_available"]) == ("ed25519", True)
    assert without.json()["private_key_available"] is False
    assert (await ada.get(f"{item}view_private_key/")).status_code == 404


async def test_a_generated_pair_is_ready_for_use(town: Town) -> None:
    ada = await town.owner()
    order = {
        "common_name": new_name(),
        "subject_alt_name": "a.example, 192.0.2.7",
        "validity_days": 3,
        "alg": "ecdsa",
    }

    answer = await ada.call("POST", f"{PAIRS}generate/", json=order)
    again = await ada.call("POST", f"{PAIRS}generate/", json=order)

    made = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{town.base_url}{PAIRS}{made['pk']}/"
    assert (made["name"], made["key_type"], made["private_key_available"]) == (order["common_name"], "ec", True)
    assert (again.status_code, again.json()) == (400, {"common_name": ["This field must be unique."]})
    pem = (await ada.get(f"{PAIRS}{made['pk']}/view_certificate/")).json()["data"]
    names = x509.load_pem_x509_certificate(pem.encode()).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert names.value.get_values_for_type(x509.DNSName) == ["a.example"]


@pytest.mark.parametrize(
    ("order", "field"),
    [
        ({"validity_days": 1}, "common_name"),
        ({"common_name": "x" * 65, "validity_days": 1}, "common_name"),
        ({"common_name": "ß" * 40, "validity_days": 1}, "common_name"),
        ({"common_name": "x"}, "validity_days"),
        ({"common_name": "x", "validity_days": 0}, "validity_days"),
        ({"common_name": "x", "validity_days": 1, "alg": "dsa"}, "alg"),
        ({"common_name": "x", "validity_days": 1, "subject_alt_name": "a b"}, "subject_alt_name"),
        ({"common_name": "x", "validity_days": 1, "subject_alt_name": "ö.example"}, "subject_alt_name"),
    ],
)
async def test_an_order_that_cannot_be_filled_is_refused(town: Town, order: dict[str, Any], field: str) -> None:
    ada = await town.owner()

    answer = await ada.call("POST", f"{PAIRS}generate/", json=order)

    assert answer.status_code == 400
    assert list(answer.json()) == [field]


@pytest.mark.parametrize("curve", [ec.BrainpoolP256R1(), ec.SECP224R1(), ec.SECP256K1(), ec.SECP521R1()])
async def test_a_pair_of_any_curve_can_be_taken_back(town: Town, curve: ec.EllipticCurve) -> None:
    ada, key = await town.owner(), ec.generate_private_key(curve)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "x")])
    days = NOW, NOW + timedelta(days=3650)
    made = x509.CertificateBuilder(name, name, key.public_key(), 5, *days).sign(key, hashes.SHA256())
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    kept = await keep(ada, made.public_bytes(Encoding.PEM).decode(), text)

    assert (await ada.call("DELETE", f"{PAIRS}{kept['pk']}/")).status_code == 204


async def test_whoever_looks_leaves_a_trace(town: Town) -> None:
    ada = await town.owner()
    made = await keep(ada, name=f"räth/../{uuid.uuid4().hex[:6]}")
    item = f"{PAIRS}{made['pk']}/"

    certificate = await ada.get(f"{item}view_certificate/")
    key = await ada.get(f"{item}view_private_key/")
    file = await ada.get(f"{item}view_private_key/?download")

    assert certificate.json() == {"data": CERTIFICATE}
    assert key.json() == {"data": KEY}
    assert file.text == KEY
    assert file.headers["content-type"] == "application/x-pem-file"
    assert file.headers["content-disposition"].startswith('attachment; filename="r_th_.._')
    assert [view["viewed"] for view in await views(ada, made["pk"])] == ["certificate", "private_key", "private_key"]


async def views(ada: Person, kp_uuid: str) -> list[dict[str, Any]]:
    answer = await ada.get("/api/v2/audit/events/", params={"action": "secret_view", "ordering": "-created"})
    contexts = [event["context"] for event in reversed(answer.json()["results"])]
    return [context for context in contexts if context["model"]["pk"] == kp_uuid]


async def test_nobody_sees_a_pair_without_the_right_to(town: Town) -> None:
    ada, bob = await town.owner(), await town.sign_up()
    made = await keep(ada)

    answers: list[httpx.Response] = [
        await bob.get(PAIRS),
        await bob.get(f"{PAIRS}{made['pk']}/view_certificate/"),
        await bob.get(f"{PAIRS}{made['pk']}/view_private_key/"),
        await bob.call("POST", f"{PAIRS}generate/", json={"common_name": "x", "validity_days": 1}),
    ]

    assert [answer.status_code for answer in answers] == [403] * 4
    for path in (f"{uuid.uuid4()}/view_certificate/", "x/view_private_key/"):
        assert (await ada.get(PAIRS + path)).status_code == 404


async def test_who_sees_pairs_does_not_see_private_keys(town: Town) -> None:
    ada, bob = await town.owner(), await town.sign_up()
    made = await keep(ada)
    role = await ada.call(
        "POST", "/api/v2/rbac/roles/", json={"name": new_name(), "permissions": ["crypto.view_certificatekeypair"]}
    )
    [person] = (await ada.get("/api/v2/core/users/", params={"username": bob.username})).json()["results"]
    await ada.call("PATCH", f"/api/v2/core/users/{person['pk']}/", json={"roles": [role.json()["pk"]]})

    assert (await bob.get(f"{PAIRS}{made['pk']}/view_certificate/")).status_code == 200
    assert (await bob.get(f"{PAIRS}{made['pk']}/view_private_key/")).status_code == 403
    assert await views(ada, made["pk"]) != []


async def test_a_pair_in_use_stays(town: Town) -> None:
    ada = await town.owner()
    made = await keep(ada)
    provider = await ada.call(
        "POST",
        "/api/v2/providers/saml/",
        json={
            "name": "wiki",
            "acs_url": "https://wiki.example/acs",
            "issuer": "kith",
            "signing_kp": made["pk"],
            "signature_algorithm": "ecdsa-sha256",
        },
    )

    held = await ada.call("DELETE", f"{PAIRS}{made['pk']}/")
    gone = await ada.call("DELETE", f"/api/v2/providers/saml/{provider.json()['pk']}/")
    free = await ada.call("DELETE", f"{PAIRS}{made['pk']}/")

    assert held.status_code == 409
    assert [reference["pk"] for reference in held.json()["references"]] == [provider.json()["pk"]]
    assert (gone.status_code, free.status_code) == (204, 204)
