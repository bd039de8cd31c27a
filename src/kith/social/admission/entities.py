"""Blocks on the wire."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from kith.social.admission.tables import CanonicalEmailBlock, EmailDomainBlock, IPBlock, ServerAllow, ServerBlock
from kith.social.moments import maybe, moment

DAYS = 7


def digest_of(domain: str) -> str:
    return hashlib.sha256(domain.encode()).hexdigest()


def render_block(row: ServerBlock) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "domain": row.domain,
        "digest": digest_of(row.domain),
        "created_at": moment(row.created_at),
        "severity": row.severity,
        "reject_media": row.reject_media,
        "reject_reports": row.reject_reports,
        "private_comment": row.private_comment,
        "public_comment": row.public_comment,
        "obfuscate": row.obfuscate,
    }


def render_public_block(row: ServerBlock) -> dict[str, Any]:
    return {
        "domain": obfuscated(row.domain) if row.obfuscate else row.domain,
        "digest": digest_of(row.domain),
        "severity": row.severity,
        "comment": row.public_comment or None,
    }


def obfuscated(domain: str) -> str:
    """The middle half of a name is not told."""
    shown = len(domain) // 4
    return "".join(
        "*" if shown < place < len(domain) - shown and letter != "." else letter for place, letter in enumerate(domain)
    )


def render_allow(row: ServerAllow) -> dict[str, Any]:
    return {"id": str(row.id), "domain": row.domain, "created_at": moment(row.created_at)}


def render_email_domain(
    row: EmailDomainBlock, tries: Mapping[tuple[str, str], tuple[int, int]], today: date
) -> dict[str, Any]:
    history = []
    for ago in range(DAYS):
        day = today - timedelta(days=ago)
        people, uses = tries.get((row.domain, day.isoformat()), (0, 0))
        at = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
        history.append({"day": str(at), "accounts": str(people), "uses": str(uses)})
    return {
        "id": str(row.id),
        "domain": row.domain,
        "created_at": moment(row.created_at),
        "history": history,
        "allow_with_approval": row.allow_with_approval,
    }


def render_ip(row: IPBlock) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "ip": row.network,
        "severity": row.severity,
        "comment": row.comment,
        "created_at": moment(row.created_at),
        "expires_at": maybe(row.expires_at),
    }


def render_canonical(row: CanonicalEmailBlock) -> dict[str, Any]:
    return {"id": str(row.id), "canonical_email_hash": row.hash}
