"""Which people are kept out: by the domain of their mail address, by the address itself, by where they come from."""

from __future__ import annotations

import ipaddress
import re
from datetime import timedelta
from typing import Any

import msgspec

from kith.base.db import Taken
from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.social.admission import store
from kith.social.admission.emails import hash_of
from kith.social.admission.facts import BlocksChanged
from kith.social.admission.gate import covers
from kith.social.admission.tables import CanonicalEmailBlock, EmailDomainBlock, IPBlock
from kith.social.staff import Staff, record
from kith.social.text.domains import domain_of

SEVERITIES = ("sign_up_requires_approval", "sign_up_block", "no_access")
LONGEST_COMMENT = 10_000
LONGEST_TIME = 100 * 365 * 86_400
_HASH = re.compile(r"[0-9a-f]{64}")
_BLANK = Complaint("can't be blank", "blank")
_TAKEN = Complaint("has already been taken", "taken")


async def find(work: Work, kind: str, id: int) -> Any:
    found = await store.find(work.db, kind, id)
    if found is None:
        raise NotFound
    return found


async def remove(work: Work, by: Staff, kind: str, id: int) -> None:
    by.check("manage_blocks")
    await find(work, kind, id)
    await store.remove(work.db, kind, id)
    await record(work, by, f"destroy_{kind}", block={"id": str(id)})
    work.announce(BlocksChanged(kind=kind))


async def _add(work: Work, by: Staff, kind: str, row: msgspec.Struct, field: str, told: str) -> None:
    by.check("manage_blocks")
    try:
        async with work.db.savepoint():
            await store.insert(work.db, kind, row)
    except Taken as error:
        raise Invalid(fields={field: [_TAKEN]}) from error
    await record(work, by, f"create_{kind}", blocked=told)
    work.announce(BlocksChanged(kind=kind))


async def block_email_domain(work: Work, by: Staff, text: str, *, allow_with_approval: bool) -> EmailDomainBlock:
    if not text.strip():
        raise Invalid(fields={"domain": [_BLANK]})
    domain = domain_of(text.strip().removeprefix("@"))
    if domain is None:
        raise Invalid(fields={"domain": [Complaint("is not a valid domain name")]})
    row = EmailDomainBlock(work.new_id(), domain, allow_with_approval, work.now)
    await _add(work, by, "email_domain_block", row, "domain", domain)
    return row


async def block_email(work: Work, by: Staff, *, email: str, hash: str) -> CanonicalEmailBlock:
    if email and "@" not in email.strip("@"):
        raise Invalid(fields={"email": [Complaint("is invalid")]})
    wanted = hash_of(email) if email else hash.strip().lower()
    if not _HASH.fullmatch(wanted):
        raise Invalid(fields={"canonical_email_hash": [Complaint("is invalid") if wanted else _BLANK]})
    row = CanonicalEmailBlock(work.new_id(), wanted, work.now)
    await _add(work, by, "canonical_email_block", row, "canonical_email_hash", wanted)
    return row


async def change_email_domain(work: Work, by: Staff, id: int, *, allow_with_approval: bool) -> None:
    by.check("manage_blocks")
    found = await find(work, "email_domain_block", id)
    await store.change(work.db, "email_domain_block", id, {"allow_with_approval": allow_with_approval})
    await record(work, by, "update_email_domain_block", blocked=found.domain)
    work.announce(BlocksChanged(kind="email_domain_block"))


class IPDraft(msgspec.Struct, kw_only=True):
    ip: str | None = None
    severity: str | None = None
    comment: str | None = None
    expires_in: int | None = None


async def block_ip(work: Work, by: Staff, draft: IPDraft) -> IPBlock:
    row = _filled(work, IPBlock(work.new_id(), "", "", "", None, work.now), draft)
    await _add(work, by, "ip_block", row, "ip", row.network)
    return row


async def change_ip(work: Work, by: Staff, id: int, draft: IPDraft) -> IPBlock:
    by.check("manage_blocks")
    row = _filled(work, await find(work, "ip_block", id), draft)
    values = {name: getattr(row, name) for name in ("network", "severity", "comment", "expires_at")}
    try:
        async with work.db.savepoint():
            await store.change(work.db, "ip_block", id, values)
    except Taken as error:
        raise Invalid(fields={"ip": [_TAKEN]}) from error
    await record(work, by, "update_ip_block", blocked=row.network)
    work.announce(BlocksChanged(kind="ip_block"))
    return row


def _filled(work: Work, before: IPBlock, draft: IPDraft) -> IPBlock:
    complaints: dict[str, list[str]] = {}
    severity = before.severity if draft.severity is None else draft.severity
    if severity not in SEVERITIES:
        complaints["severity"] = [Complaint("is not included in the list", "inclusion") if severity else _BLANK]
    network = before.network if draft.ip is None else network_of(draft.ip)
    if not network:
        complaints["ip"] = [Complaint("is invalid") if draft.ip else _BLANK]
    elif severity == "no_access" and covers(network, work.origin.address):
        complaints["ip"] = [Complaint("would shut you out yourself")]
    comment = before.comment if draft.comment is None else draft.comment
    if len(comment) > LONGEST_COMMENT:
        words = f"is too long (maximum is {LONGEST_COMMENT} characters)"
        complaints["comment"] = [Complaint(words, "too_long")]
    expires_at = before.expires_at
    if draft.expires_in is not None:
        if not 0 <= draft.expires_in <= LONGEST_TIME:
            complaints["expires_in"] = [Complaint("is invalid")]
        else:
            expires_at = work.now + timedelta(seconds=draft.expires_in) if draft.expires_in else None
    if complaints:
        raise Invalid(fields=complaints)
    return msgspec.structs.replace(before, network=network, severity=severity, comment=comment, expires_at=expires_at)


def network_of(text: str) -> str:
    """As it is kept; empty where it is none."""
    try:
        return str(ipaddress.ip_network(text.strip()[:50], strict=False))
    except ValueError:
        return ""
