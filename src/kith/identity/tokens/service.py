"""Tokens for programs. A key is shown once; only its hash is stored."""

from __future__ import annotations

import hashlib
import re
import secrets
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from kith.base.errors import Invalid
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.scopes import IDENTITY, SIGN_IN, common, complain
from kith.identity.tokens import store
from kith.identity.tokens.facts import AccessEnded, TokenEnded
from kith.identity.tokens.tables import ApiToken

Intent = Literal["api", "app_password"]
PREFIX = "kith_"
_BROUGHT = re.compile(r"[A-Za-z0-9]{60,128}")  # what keys of authentik look like, which came with their owners


def may_be_token(key: str) -> bool:
    """Whether it is worth looking for among tokens and app passwords."""
    return key.startswith(PREFIX) or _BROUGHT.fullmatch(key) is not None


def hash_key(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def scopes_of(scopes: str, intent: str) -> list[str]:
    """The scopes of a token; an app password without any is for the identity API.

    An app password for that API stands for its owner, wherever one is taken. One for less does so nowhere.
    """
    return scopes.split() or ([IDENTITY] if intent == "app_password" else [])


def scopes_to_enter(wanted: Sequence[str], scopes: str, intent: str) -> list[str]:
    """Which of these scopes of an application an app password gives, where to be somebody is to come in.

    One for the identity API gives all. Any other must be for signing in (`openid`), and gives what it names.
    """
    held = scopes_of(scopes, intent)
    if IDENTITY in held:
        return list(wanted)
    return common(wanted, held) if SIGN_IN in held else []


async def create(
    work: Work,
    user_id: int,
    *,
    scopes: str,
    intent: Intent = "api",
    description: str = "",
    expires_at: datetime | None = None,
    by: int | None = None,
    by_name: str = "",
) -> tuple[ApiToken, str]:
    """A new token and its key, which is never shown again."""
    names = scopes_of(scopes, intent)
    wrong = complain(names)
    if wrong is not None:
        raise Invalid(fields={"scopes": [wrong]})
    key = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken(
        token_uuid=str(uuid.uuid4()),
        identifier=f"{intent}-{secrets.token_hex(8)}",
        key_hash=hash_key(key),
        intent=intent,
        user_id=user_id,
        scopes=" ".join(dict.fromkeys(names)),
        description=description,
        created_at=work.now,
        expires_at=expires_at,
        last_used_at=None,
    )
    await store.insert(work.db, token)
    await _record(work, "model_created", token, by, by_name)
    return token, key


async def revoke(work: Work, token: ApiToken, *, by: int | None = None, by_name: str = "") -> None:
    await store.remove(work.db, token.token_uuid)
    tell_end(work, token)
    await _record(work, "model_deleted", token, by, by_name)


def tell_end(work: Work, token: ApiToken) -> None:
    work.announce(TokenEnded(token_uuid=token.token_uuid))
    work.announce(AccessEnded(key_hashes=(token.key_hash,), user_id=token.user_id))


async def _record(work: Work, action: str, token: ApiToken, by: int | None, by_name: str) -> None:
    model = {"app": "core", "model_name": "token", "pk": token.token_uuid, "name": token.identifier}
    context = {"model": model, "user": token.user_id, "scopes": token.scopes, "intent": token.intent}
    await audit.record(work, action, "core.tokens", user_id=by, username=by_name, context=context)
