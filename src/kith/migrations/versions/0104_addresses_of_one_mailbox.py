"""Addresses beyond ASCII are compared as mailboxes: `straße@weiß.de` is no longer `strasse@weiss.de`.

The rules stand here as they were in this version. Where two people turn out to have one address, whoever came first
keeps it; the others confirm theirs anew.
"""

from __future__ import annotations

import unicodedata

import idna
import sqlalchemy as sa
from alembic import op

revision = "0104"
down_revision = "0103"

_users = sa.table(
    "identity_users",
    sa.column("id", sa.Integer()),
    sa.column("email", sa.String()),
    sa.column("email_key", sa.String()),
    sa.column("owned_email_key", sa.String()),
    sa.column("email_verified_at", sa.DateTime()),
)


def upgrade() -> None:
    bind = op.get_bind()
    asked = sa.select(_users.c.id, _users.c.email, _users.c.owned_email_key).order_by(_users.c.id)
    beyond = [row for row in bind.execute(asked.where(_users.c.email != "")) if not row.email.isascii()]
    for id, email, _ in beyond:
        own = _users.c.id == id
        bind.execute(_users.update().where(own).values(email_key=_key(email), owned_email_key=None))
    for id, email, owned in beyond:
        if owned is None:
            continue
        key = _key(email)
        is_free = bind.execute(sa.select(_users.c.id).where(_users.c.owned_email_key == key)).first() is None
        kept = {"owned_email_key": key} if is_free else {"email_verified_at": None}
        bind.execute(_users.update().where(_users.c.id == id).values(kept))


def _key(email: str) -> str:
    local, at, host = email.strip().rpartition("@")
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", local).lower())
    local = local.lower() if local.isascii() else local if folded.isascii() else folded
    return f"{local}{at}{_host(host.strip().rstrip('.'))}"[:254]


def _host(host: str) -> str:
    if host.isascii():
        return host.lower()
    try:
        labels = idna.uts46_remap(host).split(".")
    except UnicodeError:
        return host
    spelled = [one if one.isascii() else f"xn--{one.encode('punycode').decode()}" for one in labels]
    return ".".join(spelled) if all(len(one) <= 63 for one in spelled) else host
