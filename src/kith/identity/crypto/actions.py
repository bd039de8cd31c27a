"""Actions beside the collection of key pairs: generating one, and reading its certificate or private key."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.audit import service as audit
from kith.identity.caller import ApiCaller
from kith.identity.crypto import keypairs
from kith.identity.crypto.keypairs import PATH, RESOURCE, KeyPair
from kith.identity.rest import Action
from kith.identity.rest.answers import show, show_record
from kith.identity.rest.body import read_object
from kith.identity.rest.fields import Choice, Field, Integer, InvalidValue, Text, read_uuid
from kith.identity.rest.operations import create
from kith.identity.rest.record_store import RecordStore

if TYPE_CHECKING:
    from cryptography import x509

MOST_ALTERNATIVES = 100
MOST_NAME_BYTES = 64

ORDER_FIELDS: tuple[Field, ...] = (
    Text(name="common_name", required=True, most=MOST_NAME_BYTES),
    Text(name="subject_alt_name", default="", most=5000),
    Integer(name="validity_days", required=True, least=1, most=36_500),
    Choice(name="alg", default="rsa", choices=("rsa", "ecdsa", "ed25519", "ed448")),
)

_records = RecordStore(RESOURCE)


async def make(exchange: Exchange, caller: ApiCaller, _id: str) -> Answer:
    from kith.identity.crypto.certificates import generate  # noqa: PLC0415 - loaded when first used

    work = exchange.work
    order = _read_order(await read_object(exchange))
    alternatives = _read_alternatives(order["subject_alt_name"])
    certificate, key = await asyncio.to_thread(
        generate, order["common_name"], alternatives, order["validity_days"], order["alg"], work.now
    )
    sent = {"name": order["common_name"], "certificate_data": certificate, "key_data": key}
    try:
        record = await create(_records, work, caller, sent)
    except Invalid as error:
        renamed = {"common_name" if name == "name" else name: words for name, words in error.fields.items()}
        raise Invalid(fields=renamed) from error
    where = f"{work.settings.base_url}/api/v2{PATH}{record.pk}/"
    made = show_record(_records, record, 201)
    return Answer(made.status, (*made.headers, (b"location", where.encode())), made.body)


def _read_order(sent: dict[str, Any]) -> dict[str, Any]:
    order: dict[str, Any] = {}
    complaints: dict[str, list[str]] = {}
    for field in ORDER_FIELDS:
        try:
            if field.name in sent:
                order[field.name] = field.read(sent[field.name])
            elif field.required:
                raise InvalidValue("This field is required.", "required")
            else:
                order[field.name] = field.start()
        except InvalidValue as error:
            complaints[field.name] = [error.complaint]
    if len(order.get("common_name", "").encode()) > MOST_NAME_BYTES:
        complaints["common_name"] = [f"Ensure this field has no more than {MOST_NAME_BYTES} characters."]
    if complaints:
        raise Invalid(fields=complaints)
    return order


def _read_alternatives(text: str) -> list[x509.GeneralName]:
    from kith.identity.crypto.certificates import read_alternative  # noqa: PLC0415 - loaded when first used

    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if len(names) > MOST_ALTERNATIVES:
        raise Invalid(subject_alt_name=f"Ensure this field has no more than {MOST_ALTERNATIVES} elements.")
    try:
        return [read_alternative(name) for name in names]
    except ValueError as error:
        raise Invalid(subject_alt_name="Enter host names, addresses or URLs, separated by commas.") from error


async def view_certificate(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    kp_uuid, pair = await _found(exchange, id)
    return await _reveal(exchange, caller, kp_uuid, pair, "certificate", pair.certificate_data)


async def view_private_key(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    kp_uuid, pair = await _found(exchange, id)
    key = keypairs.open_key(exchange.work, pair.key_data)
    if not key:
        raise NotFound
    return await _reveal(exchange, caller, kp_uuid, pair, "private_key", key)


async def _found(exchange: Exchange, id: str) -> tuple[str, KeyPair]:
    kp_uuid = read_uuid(id)
    pair = await keypairs.find(exchange.work, kp_uuid) if kp_uuid is not None else None
    if kp_uuid is None or pair is None:
        raise NotFound
    return kp_uuid, pair


async def _reveal(exchange: Exchange, caller: ApiCaller, kp_uuid: str, pair: KeyPair, what: str, data: str) -> Answer:
    """Answer with the certificate or key, and record in the audit trail that it was read."""
    model = {"app": RESOURCE.area, "model_name": RESOURCE.model, "pk": kp_uuid, "name": pair.name}
    await audit.record(
        exchange.work,
        "secret_view",
        "crypto.certificatekeypair",
        user_id=caller.id,
        username=caller.username,
        context={"model": model, "viewed": what},
    )
    asked = parse_qs(exchange.query_string.decode("latin-1"), keep_blank_values=True)
    if "download" not in asked:
        return show({"data": data})
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", pair.name)[:100]
    headers = (
        (b"content-type", b"application/x-pem-file"),
        (b"content-disposition", f'attachment; filename="{name}_{what}.pem"'.encode()),
    )
    return Answer(200, headers, data.encode())


ACTIONS = (
    Action(
        method="POST",
        path=f"{PATH}generate/",
        name="crypto_certificatekeypairs_generate",
        handler=make,
        permission=RESOURCE.permission("add"),
        body="CertificateGeneration",
        answer="CertificateKeyPair",
        status=201,
        summary="Create a key and a self-signed certificate.",
    ),
    Action(
        method="GET",
        path=f"{PATH}{{id}}/view_certificate/",
        name="crypto_certificatekeypairs_view_certificate",
        handler=view_certificate,
        permission=RESOURCE.permission("view"),
        answer="CertificateData",
        summary="The certificate as PEM text; with `download` as a file.",
    ),
    Action(
        method="GET",
        path=f"{PATH}{{id}}/view_private_key/",
        name="crypto_certificatekeypairs_view_private_key",
        handler=view_private_key,
        permission="crypto.view_certificatekeypair_key",
        answer="CertificateData",
        summary="The private key as PEM text; with `download` as a file.",
    ),
)
