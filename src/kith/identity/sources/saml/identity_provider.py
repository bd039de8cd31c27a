"""An identity provider that people come from: its record, and the keys of both sides."""

from __future__ import annotations

import msgspec

from kith.base.errors import NotFound
from kith.base.work import Work
from kith.identity.crypto import keypairs
from kith.identity.rest import operations
from kith.identity.rest.record_store import RecordStore
from kith.identity.saml.names import SIGNATURES
from kith.identity.sources import store
from kith.identity.sources.kinds import saml
from kith.identity.sources.kinds.saml import SAMLSource
from kith.identity.sources.store import Source

_RECORDS = RecordStore(saml.RESOURCE)


class IdentityProvider(msgspec.Struct, frozen=True, kw_only=True):
    source: Source
    record: SAMLSource
    base_url: str

    def url(self, path: str = "") -> str:
        return f"{self.base_url}{self.path}{path}"

    @property
    def path(self) -> str:
        return f"/source/saml/{self.source.slug}/"

    @property
    def entity_id(self) -> str:
        """Who we are there."""
        return self.record.issuer or self.url("metadata/")

    @property
    def audience(self) -> str:
        return self.record.audience_override or self.entity_id

    @property
    def allows_sha1(self) -> bool:
        return self.record.signature_algorithm.endswith("sha1")


async def find_by_slug(work: Work, slug: str) -> IdentityProvider:
    """An enabled source of this kind; anything else is not found."""
    source = await store.find_source(work.db, slug) if "\0" not in slug and len(slug) <= 200 else None
    if source is None or source.kind != "saml":
        raise NotFound
    return await of_source(work, source)


async def of_source(work: Work, source: Source) -> IdentityProvider:
    record = await operations.read(_RECORDS, work, source.pbm_uuid, sees_secrets=False)
    return IdentityProvider(source=source, record=record, base_url=work.settings.base_url)


async def certificate(work: Work, idp: IdentityProvider) -> str:
    """The certificate that responses are checked with."""
    pair = await keypairs.find(work, idp.record.verification_kp or idp.record.signing_kp)
    if pair is None:
        raise NotFound
    return pair.certificate_data


async def decryption_key(work: Work, idp: IdentityProvider) -> str | None:
    pair = await keypairs.find(work, idp.record.encryption_kp) if idp.record.encryption_kp is not None else None
    return keypairs.open_key(work, pair.key_data) if pair is not None else None


async def encryption_certificate(work: Work, idp: IdentityProvider) -> str | None:
    pair = await keypairs.find(work, idp.record.encryption_kp) if idp.record.encryption_kp is not None else None
    return pair.certificate_data if pair is not None else None


class RequestKey(msgspec.Struct, frozen=True):
    """What our messages to an identity provider are signed with."""

    key: str
    certificate: str
    signature: str
    digest: str


async def request_key(work: Work, idp: IdentityProvider) -> RequestKey | None:
    """None if the key pair has no private key: it is then only the other side's certificate."""
    pair = await keypairs.find(work, idp.record.signing_kp)
    if pair is None or not pair.private_key_available:
        return None
    digest, chosen = idp.record.digest_algorithm, idp.record.signature_algorithm
    kind = {"ec": "ecdsa"}.get(pair.key_type or "", pair.key_type or "")
    fitting = chosen if chosen.startswith(f"{kind}-") else f"{kind}-{chosen.partition('-')[2]}"
    if fitting not in SIGNATURES:
        return None
    return RequestKey(keypairs.open_key(work, pair.key_data), pair.certificate_data, fitting, digest)
