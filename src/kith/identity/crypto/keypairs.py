"""/crypto/certificatekeypairs/: certificates and private keys; reading a private key is recorded."""

from __future__ import annotations

import asyncio
from datetime import datetime

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.crypto.facts import KeyPairDeleted
from kith.identity.crypto.tables import FIELDS, keypairs
from kith.identity.rest import RecordDraft, Resource
from kith.identity.rest.record import Record

PATH = "/crypto/certificatekeypairs/"
_KEY_PLACE = f"{keypairs.name}.key_data"


class KeyPair(msgspec.Struct, frozen=True):
    name: str
    certificate_data: str
    key_data: str | None
    private_key_available: bool
    key_type: str | None


_find = query(
    select(*(keypairs.c[name] for name in KeyPair.__struct_fields__)).where(
        keypairs.c.kp_uuid == bindparam("kp_uuid", type_=UID())
    ),
    KeyPair,
)


async def find(work: Work, kp_uuid: str) -> KeyPair | None:
    return await work.db.one(_find, kp_uuid=kp_uuid)


def open_key(work: Work, sealed: str | None) -> str:
    """The private key in clear, `""` where there is none."""
    return work.find(Sealer).open(sealed, _KEY_PLACE) if sealed else ""


async def check(draft: RecordDraft[CertificateKeyPairRecord]) -> None:
    """Certificate and key are parsed when they are saved; what is shown of them is stored in columns."""
    from kith.identity.crypto.certificates import Unreadable, examine  # noqa: PLC0415 - loaded when first used

    if not draft.is_new and not {"certificate_data", "key_data"} & set(draft.values):
        return
    certificate = draft.value("certificate_data")
    key = draft.value("key_data") if "key_data" in draft.values else open_key(draft.work, draft.value("key_data"))
    try:
        facts = await asyncio.to_thread(examine, certificate, key)
    except Unreadable as wrong:
        draft.complain(wrong.field if wrong.field in draft.values else "certificate_data", wrong.words)
        return
    draft.columns |= msgspec.structs.asdict(facts)


async def decorate(work: Work, records: list[CertificateKeyPairRecord]) -> None:
    for record in records:
        item = f"{work.settings.base_url}/api/v2{PATH}{record.pk}"
        record.certificate_download_url = f"{item}/view_certificate/?download"
        record.private_key_download_url = f"{item}/view_private_key/?download"


async def removing(work: Work, record: CertificateKeyPairRecord, _caller: ApiCaller) -> None:
    """Announce the end of the pair to whoever still believes what its key signed."""
    from kith.identity.crypto.certificates import public_key  # noqa: PLC0415 - loaded when first used

    row = await find(work, record.pk)
    if row is not None and row.key_data and row.key_type:
        work.announce(KeyPairDeleted(public_key=public_key(row.certificate_data), key_type=row.key_type))


class CertificateKeyPairRecord(Record, kw_only=True):
    pk: str
    kp_uuid: str
    name: str
    managed: str | None
    fingerprint_sha256: str | None
    fingerprint_sha1: str | None
    cert_expiry: datetime | None
    cert_subject: str | None
    private_key_available: bool
    key_type: str | None
    certificate_download_url: str = ""
    private_key_download_url: str = ""
    created: datetime
    last_updated: datetime


RESOURCE = Resource(
    path=PATH,
    name="CertificateKeyPair",
    record=CertificateKeyPairRecord,
    key="kp_uuid",
    table=keypairs,
    fields=FIELDS,
    exact=("name", "managed", "key_type", "private_key_available"),
    ahead=check,
    decorate=decorate,
    removing=removing,
)
