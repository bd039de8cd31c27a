"""A service that trusts our assertions: its record, its application, and the keys that it is set up with."""

from __future__ import annotations

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import query
from kith.base.errors import NotFound
from kith.base.work import Work
from kith.identity.applications.tables import applications
from kith.identity.crypto import keypairs
from kith.identity.providers.family import providers
from kith.identity.providers.kinds import saml
from kith.identity.providers.kinds.saml import SAMLProvider
from kith.identity.providers.sign_on.applications import ClientApplication, find_application
from kith.identity.rest import operations
from kith.identity.rest.fields import read_offset
from kith.identity.rest.record_store import RecordStore

PREFIX = "/application/saml/"
_RECORDS = RecordStore(saml.RESOURCE)

_by_slug = query(
    select(applications.c.provider)
    .join(providers, providers.c.id == applications.c.provider)
    .where(applications.c.slug == bindparam("slug"), providers.c.kind == "saml"),
    int,
)
_is_saml = query(select(providers.c.id).where(providers.c.id == bindparam("provider"), providers.c.kind == "saml"), int)


class MessageKey(msgspec.Struct, frozen=True):
    """What a message is signed with, as text that a thread can parse."""

    key: str
    certificate: str
    signature: str
    digest: str


class ServiceProvider(msgspec.Struct, frozen=True, kw_only=True):
    record: SAMLProvider
    application: ClientApplication | None
    base_url: str

    @property
    def id(self) -> int:
        return self.record.pk

    @property
    def issuer(self) -> str:
        """Our entity id for this service."""
        return self.record.issuer or self.url("metadata/")

    @property
    def name(self) -> str:
        return self.application.name if self.application is not None else self.record.name

    @property
    def path(self) -> str:
        return f"{PREFIX}{self.application.slug}/" if self.application is not None else PREFIX

    def url(self, path: str = "") -> str:
        return f"{self.base_url}{self.path}{path}"

    @property
    def allows_sha1(self) -> bool:
        return self.record.signature_algorithm.endswith("sha1")

    def seconds(self, name: str) -> float:
        return read_offset(getattr(self.record, name)) or 0.0


async def find_by_slug(work: Work, slug: str) -> ServiceProvider:
    if "\0" in slug or len(slug) > 200:
        raise NotFound
    provider_id = await work.db.one(_by_slug, slug=slug)
    found = await find(work, provider_id) if provider_id is not None else None
    if found is None:
        raise NotFound
    return found


async def find(work: Work, provider_id: int) -> ServiceProvider | None:
    if await work.db.one(_is_saml, provider=provider_id) is None:
        return None
    try:
        record = await operations.read(_RECORDS, work, provider_id, sees_secrets=False)
    except NotFound:
        return None
    application = await find_application(work, provider_id)
    return ServiceProvider(record=record, application=application, base_url=work.settings.base_url)


async def signing_key(work: Work, service: ServiceProvider) -> MessageKey | None:
    record = service.record
    return await open_signing_key(work, record.signing_kp, record.signature_algorithm, record.digest_algorithm)


async def open_signing_key(work: Work, kp_uuid: str | None, signature: str, digest: str) -> MessageKey | None:
    pair = await keypairs.find(work, kp_uuid) if kp_uuid is not None else None
    if pair is None or not pair.private_key_available:
        return None
    return MessageKey(keypairs.open_key(work, pair.key_data), pair.certificate_data, signature, digest)


async def verification_certificate(work: Work, service: ServiceProvider) -> str | None:
    """The certificate that requests must be signed with; None if they need not be signed."""
    record = service.record
    kp_uuid = record.verification_kp or (record.signing_kp if record.require_signing else None)
    pair = await keypairs.find(work, kp_uuid) if kp_uuid is not None else None
    return pair.certificate_data if pair is not None else None


def needs_signature(service: ServiceProvider) -> bool:
    return service.record.verification_kp is not None or service.record.require_signing


async def encryption_certificate(work: Work, service: ServiceProvider) -> str | None:
    kp_uuid = service.record.encryption_kp
    pair = await keypairs.find(work, kp_uuid) if kp_uuid is not None else None
    return pair.certificate_data if pair is not None else None
