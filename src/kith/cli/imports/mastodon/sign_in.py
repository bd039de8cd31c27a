"""Apps with their tokens, and second factors: whoever is signed in stays so."""

from __future__ import annotations

import base64
import binascii
import uuid
from datetime import datetime, timedelta
from typing import Any

import pyotp
from sqlalchemy import select

from kith.base.db import any_of, query
from kith.cli.imports.mastodon.move import Move, RowBatch
from kith.cli.imports.mastodon.rails import WrongKey
from kith.cli.imports.mastodon.staging import Row
from kith.cli.imports.mastodon.values import at, is_true, must_at, text
from kith.identity.for_social import Sealer
from kith.identity.providers.oauth2.clients.client import hash_secret
from kith.identity.providers.oauth2.grants.service import hash_key
from kith.identity.providers.oauth2.registration.apps import GRANTS
from kith.identity.scopes import SOCIAL
from kith.social.accounts.tables import accounts

__all__ = ["TOKENS", "TOTP", "take_apps", "take_passkeys", "take_tokens", "take_totp"]

TOKENS = (
    "t.*, u.account_id, y.uid FROM oauth_access_tokens t JOIN oauth_applications y ON y.id = t.application_id"
    " LEFT JOIN users u ON u.id = t.resource_owner_id WHERE t.revoked_at IS NULL AND y.superapp IS NOT 't'"
)
TOTP = "t.*, a.username FROM users t JOIN kept_accounts k ON k.id = t.account_id JOIN accounts a ON a.id = k.id WHERE 1"
TOTP_PLACE = "identity_factors_totp.secret"
_KNOWN = frozenset(SOCIAL)
_users = query(select(accounts.c.id, accounts.c.user_id).where(any_of(accounts.c.id, "ids")), tuple)


async def _user_ids(batch: RowBatch) -> dict[int, int]:
    """By their accounts; whoever has no record here is not among them."""
    ids = list({row["account_id"] for row in batch.items if row["account_id"] is not None})
    found = await batch.work.db.all(_users, ids=ids) if ids else []
    return {account: user for account, user in found if user is not None}


async def take_apps(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        scopes = [one for one in text(row, "scopes").split() if one in _KNOWN]
        batch.rows.add(
            "identity_oauth_apps",
            id=row["id"],
            client_id=text(row, "uid")[:255],
            secret_hash=hash_secret(text(row, "secret")),
            kind="social",
            name=text(row, "name"),
            website=text(row, "website") or None,
            redirect_uris="\n".join(text(row, "redirect_uri").split()),
            scopes=" ".join(scopes) or "read",
            grant_types=GRANTS,
            auth_method="client_secret_post",
            jwks={},
            trusted=False,
            metadata={},
            created_at=must_at(row, "created_at", move.started_at),
        )
        batch.taken += 1


async def take_tokens(move: Move, batch: RowBatch) -> None:
    """Kept as hashes, as all of ours."""
    user_ids = await _user_ids(batch)
    for row in batch.items:
        user_id = user_ids.get(row["account_id"]) if row["account_id"] is not None else None
        if row["resource_owner_id"] is not None and user_id is None:
            batch.leave(row["id"], "its owner is not here")
            continue
        made, ends = must_at(row, "created_at", move.started_at), _end(row)
        if ends is not None and ends <= move.started_at:
            continue
        scopes = " ".join(one for one in text(row, "scopes").split() if one in _KNOWN) or "read"
        grant = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{move.settings.base_url}/oauth_access_tokens/{row['id']}"))
        batch.rows.add(
            "identity_oauth_grants",
            grant_uuid=grant,
            client_id=text(row, "uid")[:255],
            app_id=row["application_id"],
            user_id=user_id,
            scopes=scopes,
            resource="",
            claims={},
            auth_method="",
            created_at=made,
        )
        batch.rows.add(
            "identity_oauth_tokens",
            key_hash=hash_key(text(row, "token")),
            kind="access",
            grant_uuid=grant,
            scopes=scopes,
            created_at=made,
            expires_at=ends,
            last_used_at=at(row, "last_used_at"),
        )
        batch.taken += 1


def _end(row: Row) -> datetime | None:
    made, seconds = at(row, "created_at"), text(row, "expires_in")
    return made + timedelta(seconds=int(seconds)) if made is not None and seconds.isdigit() else None


def _factor(move: Move, row: Row, kind: str, name: str, user_id: int) -> dict[str, Any]:
    device = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{move.settings.base_url}/{kind}/{row['id']}"))
    return {
        "device_uuid": device,
        "user_id": user_id,
        "kind": kind,
        "name": name[:150],
        "confirmed": True,
        "failures": 0,
        "created_at": must_at(row, "created_at", move.started_at),
    }


async def take_totp(move: Move, batch: RowBatch) -> None:
    user_ids = await _user_ids(batch)
    for row in batch.items:
        user_id, name = user_ids.get(row["account_id"]), text(row, "username")
        if user_id is None or not is_true(row, "otp_required_for_login"):
            continue
        try:
            secret = move.secrets.totp(row)
            if secret is not None:
                pyotp.TOTP(secret).at(0)
        except (WrongKey, ValueError, binascii.Error) as error:
            batch.leave(name, f"its authenticator app: {error}")
            continue
        if secret is None:
            batch.leave(name, "its authenticator app: the key of the old server was not given")
            continue
        factor = _factor(move, row, "totp", "Authenticator app", user_id)
        batch.rows.add("identity_factors", **factor)
        batch.rows.add(
            "identity_factors_totp",
            device_uuid=factor["device_uuid"],
            secret=batch.work.find(Sealer).seal(secret, TOTP_PLACE),
            digits=6,
            last_step=int(row["consumed_timestep"] or 0),
        )
        if row["otp_backup_codes"] not in (None, "{}"):
            batch.leave(name, "its recovery codes: they are hashed in another way, new ones can be made")
        batch.taken += 1


async def take_passkeys(move: Move, batch: RowBatch) -> None:
    user_ids = await _user_ids(batch)
    for row in batch.items:
        user_id = user_ids.get(row["account_id"])
        key, credential = _decoded(text(row, "public_key")), _decoded(text(row, "external_id"))
        if user_id is None or key is None or credential is None:
            batch.leave(text(row, "nickname"), "it cannot be read, or its owner is not here")
            continue
        factor = _factor(move, row, "webauthn", text(row, "nickname") or "Passkey", user_id)
        batch.rows.add("identity_factors", **factor)
        batch.rows.add(
            "identity_factors_webauthn",
            device_uuid=factor["device_uuid"],
            credential_id=base64.urlsafe_b64encode(credential).rstrip(b"=").decode(),
            public_key=base64.b64encode(key).decode(),
            sign_count=row["sign_count"] or 0,
            transports=[],
            aaguid="00000000-0000-0000-0000-000000000000",
        )
        batch.taken += 1


def _decoded(text: str) -> bytes | None:
    """Base64 of either alphabet, with padding or without."""
    plain = text.replace("+", "-").replace("/", "_").rstrip("=")
    try:
        return base64.urlsafe_b64decode(plain + "=" * (-len(plain) % 4)) or None
    except (binascii.Error, ValueError):
        return None
