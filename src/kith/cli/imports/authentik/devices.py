"""Second factors, tokens and links to other services: what people sign in with beside their passwords."""

from __future__ import annotations

import base64
import binascii
import re
import uuid
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from kith.base import import_runs
from kith.base.db import UID, query
from kith.cli.imports.authentik.adjusting import NotTaken
from kith.cli.imports.authentik.people import at
from kith.cli.imports.authentik.records import OldRecord
from kith.cli.imports.running import Batch
from kith.identity.factors.service import hash_code
from kith.identity.for_social import Sealer
from kith.identity.scopes import IDENTITY
from kith.identity.sources.family import sources
from kith.identity.tokens.service import hash_key, may_be_token

if TYPE_CHECKING:
    from kith.cli.imports.authentik.taking import Taking

__all__ = ["take"]

PEOPLE, SOURCE = "identity_users.id", "identity_sources.pbm_uuid"
TOTP_PLACE = "identity_factors_totp.secret"
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){8,64}")
_kind_of = query(select(sources.c.kind).where(sources.c.pbm_uuid == bindparam("source", type_=UID())), str)


async def take(batch: Batch[OldRecord], record: OldRecord, taking: Taking) -> int:
    """1, or 0 for what came before or was over already."""
    user = taking.known.get((PEOPLE, str(record.values.get("user"))))
    if user is None:
        raise NotTaken("its owner was left out")
    if taking.came_before(record):
        return 0
    new = str(uuid.uuid5(uuid.UUID(taking.server.origin[:32]), f"{record.model}:{record.pk}"))
    take_one = _TAKERS[record.model.rpartition(".")[2]]
    if not await take_one(batch, record, taking, user, new):
        return 0
    await import_runs.add_record(batch.work.db, taking.server.origin, record.model, record.pk, new)
    return 1


def _factor(batch: Batch[OldRecord], record: OldRecord, kind: str, name: str, user: int, new: str) -> None:
    batch.rows.add(
        "identity_factors",
        device_uuid=new,
        user_id=user,
        kind=kind,
        name=str(record.values.get("name") or name)[:150],
        confirmed=True,
        failures=0,
        created_at=at(record.values.get("created") or record.values.get("created_on")) or batch.work.now,
        last_used_at=at(record.values.get("last_used")),
    )


def _is_confirmed(record: OldRecord) -> bool:
    return record.values.get("confirmed", True) in (True, "t", "true")


async def _totp(batch: Batch[OldRecord], record: OldRecord, _taking: Taking, user: int, new: str) -> bool:
    values = record.values
    key = str(values.get("key") or "")
    if not key:
        raise NotTaken("an export holds no keys of authenticator apps: the database does")
    if not _is_confirmed(record):
        return False
    if not _HEX.fullmatch(key):
        raise NotTaken("its key cannot be read")
    digits = str(values.get("digits") or "6")
    if str(values.get("step") or "30") != "30" or str(values.get("t0") or "0") != "0" or digits not in ("6", "8"):
        raise NotTaken("its codes are made in another way than every 30 seconds with 6 or 8 digits")
    secret = base64.b32encode(bytes.fromhex(key)).rstrip(b"=").decode()
    last = str(values.get("last_t") or "-1")
    _factor(batch, record, "totp", "Authenticator app", user, new)
    batch.rows.add(
        "identity_factors_totp",
        device_uuid=new,
        secret=batch.work.find(Sealer).seal(secret, TOTP_PLACE),
        digits=int(digits),
        last_step=max(0, int(last)) if last.lstrip("-").isdigit() else 0,
    )
    return True


async def _static(batch: Batch[OldRecord], record: OldRecord, _taking: Taking, user: int, new: str) -> bool:
    codes = [str(one) for one in record.values.get("codes") or [] if one]
    if not codes:
        raise NotTaken("there are no recovery codes in it")
    _factor(batch, record, "static", "Recovery codes", user, new)
    for code in sorted({hash_code(batch.work, new, one) for one in codes[:1000]}):
        batch.rows.add("identity_factor_codes", device_uuid=new, code_hash=code)
    return True


async def _webauthn(batch: Batch[OldRecord], record: OldRecord, _taking: Taking, user: int, new: str) -> bool:
    values = record.values
    key, credential = _decoded(values.get("public_key")), _decoded(values.get("credential_id"))
    if key is None or credential is None:
        raise NotTaken("an export holds no passkeys: the database does")
    host = batch.work.settings.base_url.partition("://")[2].partition("/")[0].partition(":")[0]
    rp_id = str(values.get("rp_id") or host)
    if rp_id != host:
        raise NotTaken(f"it was made for {rp_id}, and works nowhere else; this server is {host}")
    _factor(batch, record, "webauthn", "Passkey", user, new)
    count = str(values.get("sign_count") or "0")
    batch.rows.add(
        "identity_factors_webauthn",
        device_uuid=new,
        credential_id=base64.urlsafe_b64encode(credential).rstrip(b"=").decode(),
        public_key=base64.b64encode(key).decode(),
        sign_count=int(count) if count.isdigit() else 0,
        transports=[],
        aaguid=str(values.get("aaguid") or "00000000-0000-0000-0000-000000000000")[:36],
    )
    return True


def _decoded(text: Any) -> bytes | None:
    plain = str(text or "").replace("+", "-").replace("/", "_").rstrip("=")
    try:
        return base64.urlsafe_b64decode(plain + "=" * (-len(plain) % 4)) or None
    except (binascii.Error, ValueError):
        return None


async def _token(batch: Batch[OldRecord], record: OldRecord, _taking: Taking, user: int, new: str) -> bool:
    """App passwords and tokens of the API go on; links that were mailed do not."""
    values = record.values
    intent, key = str(values.get("intent") or ""), str(values.get("key") or "")
    if intent not in ("app_password", "api"):
        return False
    if not key:
        raise NotTaken("an export holds no keys of tokens: the database does")
    if not may_be_token(key):
        raise NotTaken("its key is none that authentik makes (60 letters and digits): make a new one")
    ends = at(values.get("expires")) if values.get("expiring", True) in (True, "t", "true") else None
    if ends is not None and ends <= batch.work.now:
        return False
    batch.rows.add(
        "identity_tokens",
        token_uuid=new,
        identifier=str(values.get("identifier") or new)[:255],
        key_hash=hash_key(key),
        intent=intent,
        user_id=user,
        scopes=IDENTITY,
        description=str(values.get("description") or "")[:2000],
        created_at=batch.work.now,
        expires_at=ends,
    )
    return True


async def _connection(batch: Batch[OldRecord], record: OldRecord, taking: Taking, user: int, new: str) -> bool:
    identifier = str(record.values.get("identifier") or "")
    source = taking.known.get((SOURCE, str(record.values.get("source"))))
    if source is None or not identifier or len(identifier) > 500:
        raise NotTaken("its source was left out, or it does not say whom the source means")
    batch.rows.add(
        "identity_source_user_connections",
        connection_uuid=new,
        is_made_here=False,
        source=source,
        kind=await batch.work.db.one(_kind_of, source=source),
        user=user,
        identifier=identifier,
        created_at=at(record.values.get("created")) or batch.work.now,
        updated_at=batch.work.now,
    )
    return True


_TAKERS = {
    "totpdevice": _totp,
    "staticdevice": _static,
    "webauthndevice": _webauthn,
    "token": _token,
    "usersourceconnection": _connection,
}
