"""Making a provider from the metadata of a service."""

from __future__ import annotations

import asyncio
from typing import Any

from kith.base.errors import Invalid
from kith.base.exchange import Exchange
from kith.base.params import BodyLimits, Upload, read_body
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.crypto.keypairs import RESOURCE as KEYPAIRS
from kith.identity.providers.kinds.saml import RESOURCE, SAMLProvider
from kith.identity.providers.saml.service_provider import PREFIX
from kith.identity.rest import operations
from kith.identity.rest.record_store import RecordStore
from kith.identity.saml.errors import SAMLError
from kith.identity.saml.limits import MOST_BYTES

SIGNING_DAYS = 3650
_LIMITS = BodyLimits(max_bytes=64 * 1024, max_file_bytes=MOST_BYTES, max_files=1, count=20)
_GIVEN = ("name", "authorization_flow", "authentication_flow", "invalidation_flow", "signing_kp")
RECORDS, _pairs = RecordStore(RESOURCE), RecordStore(KEYPAIRS)


async def import_metadata(exchange: Exchange, caller: ApiCaller) -> SAMLProvider:
    """The record of the new provider. The service's certificates become key pairs, and we get a key to sign with."""
    from kith.identity.saml.service_metadata import read_service_metadata  # noqa: PLC0415 - loaded when first used

    form = await read_body(exchange, _LIMITS)
    given = {name: str(form[name]) for name in _GIVEN if form.get(name)}
    if "name" not in given:
        raise Invalid(fields={"name": ["This field is required."]})
    try:
        told = await asyncio.to_thread(read_service_metadata, _content(form.get("file")))
    except SAMLError as error:
        is_broken = "well-formed" in error.words
        words = "Invalid XML Syntax" if is_broken else f"Failed to import Metadata: {error.words}"
        raise Invalid(fields={"file": [words]}) from error
    work, name = exchange.work, given["name"]
    own = await _generate(work, name) if "signing_kp" not in given else None
    sent: dict[str, Any] = {
        **given,
        "acs_url": told.acs_url,
        "sp_binding": told.acs_binding,
        "audience": told.entity_id,
        "issuer": f"{work.settings.base_url}{PREFIX}",
        "sls_url": told.sls_url,
        "sls_binding": told.sls_binding,
        "sign_logout_request": True,
        "sign_logout_response": True,
    }
    if told.name_format is not None:
        sent["default_name_id_policy"] = told.name_format
    if own is not None:
        sent["signing_kp"] = await _store(work, caller, f"{name} - signing", *own)
    if told.signing_certificate is not None and told.signs_requests:
        sent["verification_kp"] = await _store(work, caller, f"{name} - verification", told.signing_certificate)
    if told.encryption_certificate is not None:
        sent["encryption_kp"] = await _store(work, caller, f"{name} - encryption", told.encryption_certificate)
    return await operations.create(RECORDS, work, caller, sent)


def _content(file: Any) -> bytes:
    if isinstance(file, Upload):
        return file.file.read()
    if isinstance(file, str) and file:
        return file.encode()
    raise Invalid(fields={"file": ["No file was submitted."]})


async def _generate(work: Work, name: str) -> tuple[str, str]:
    from kith.identity.crypto.certificates import generate  # noqa: PLC0415 - loaded when first used

    return await asyncio.to_thread(generate, name[:60], [], SIGNING_DAYS, "rsa", work.now)


async def _store(work: Work, caller: ApiCaller, name: str, certificate: str, key: str = "") -> str:
    sent = {"name": name[:255], "certificate_data": certificate, "key_data": key}
    try:
        record = await operations.create(_pairs, work, caller, sent)
    except Invalid as error:
        words = [str(word) for said in error.fields.values() for word in said]
        raise Invalid(fields={"file": words}) from error
    return record.pk
