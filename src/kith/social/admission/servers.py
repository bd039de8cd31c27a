"""Which servers are blocked, and what that does to the accounts of theirs that are known here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.social.admission import store
from kith.social.admission.facts import ServerBlockChanged
from kith.social.admission.tables import ServerAllow, ServerBlock
from kith.social.moderation.severing import SEVER, Sever
from kith.social.staff import Staff, record
from kith.social.text.domains import domain_of

SEVERITIES = ("silence", "suspend", "noop")
LONGEST_COMMENT = 10_000
AT_ONCE = 200


class DomainBlockDraft(msgspec.Struct, kw_only=True):
    """What is left out is as it was."""

    severity: str | None = None
    reject_media: bool | None = None
    reject_reports: bool | None = None
    obfuscate: bool | None = None
    private_comment: str | None = None
    public_comment: str | None = None


class StricterAlready(Exception):  # noqa: N818 - it is what stands in the way
    def __init__(self, domain: str, existing: ServerBlock) -> None:
        super().__init__(f"You have already imposed stricter limits on {domain}.")
        self.existing = existing


def checked_domain(work: Work, text: str) -> str:
    if not text.strip():
        raise Invalid(fields={"domain": [Complaint("can't be blank", "blank")]})
    domain = domain_of(text)
    if domain is None or work.settings.is_own_domain(domain):
        raise Invalid(fields={"domain": [Complaint("is not a valid domain name")]})
    return domain


async def effective(work: Work, domain: str) -> ServerBlock | None:
    """The block that counts for a domain: the most specific one."""
    found = await store.blocks_of(work.db, domain)
    return found[0] if found else None


async def block(work: Work, by: Staff, text: str, draft: DomainBlockDraft) -> ServerBlock:
    by.check("manage_federation")
    domain = checked_domain(work, text)
    await work.db.hold("social.server_blocks")
    new = _filled(ServerBlock(work.new_id(), domain, "silence", False, False, False, None, None, work.now), draft)
    existing = await effective(work, domain)
    if existing is not None and (existing.domain == domain or not _is_stricter(new, existing)):
        raise StricterAlready(domain, existing)
    await store.insert(work.db, "domain_block", new)
    await _enforce(work, domain, ())
    work.announce(ServerBlockChanged(domain=domain))
    await record(work, by, "create_domain_block", domain=domain, severity=new.severity)
    return new


def _filled(before: ServerBlock, draft: DomainBlockDraft) -> ServerBlock:
    given = {
        name: getattr(draft, name) for name in DomainBlockDraft.__struct_fields__ if getattr(draft, name) is not None
    }
    after = msgspec.structs.replace(before, **given)
    if after.severity not in SEVERITIES:
        raise Invalid(fields={"severity": [Complaint("is not included in the list", "inclusion")]})
    for name in ("private_comment", "public_comment"):
        if len(getattr(after, name) or "") > LONGEST_COMMENT:
            words = f"is too long (maximum is {LONGEST_COMMENT} characters)"
            raise Invalid(fields={name: [Complaint(words, "too_long")]})
    return after


def _is_stricter(one: ServerBlock, other: ServerBlock) -> bool:
    order = ("noop", "silence", "suspend")
    if one.severity == "suspend":
        return True
    if order.index(one.severity) < order.index(other.severity):
        return False
    return (one.reject_media or not other.reject_media) and (one.reject_reports or not other.reject_reports)


async def find(work: Work, id: int) -> ServerBlock:
    found: ServerBlock | None = await store.find(work.db, "domain_block", id)
    if found is None:
        raise NotFound
    return found


async def change(work: Work, by: Staff, id: int, draft: DomainBlockDraft) -> ServerBlock:
    by.check("manage_federation")
    await work.db.hold("social.server_blocks")
    before = await find(work, id)
    after = _filled(before, draft)
    values = {name: getattr(after, name) for name in DomainBlockDraft.__struct_fields__}
    await store.change(work.db, "domain_block", id, values)
    if after.severity != before.severity:
        await _enforce(work, before.domain, [before.created_at])
    work.announce(ServerBlockChanged(domain=before.domain))
    await record(work, by, "update_domain_block", domain=before.domain, severity=after.severity)
    return after


async def unblock(work: Work, by: Staff, id: int) -> None:
    """What it did to accounts is undone; follows that it cut stay cut."""
    by.check("manage_federation")
    await work.db.hold("social.server_blocks")
    found = await find(work, id)
    await store.remove(work.db, "domain_block", id)
    await _enforce(work, found.domain, [found.created_at])
    work.announce(ServerBlockChanged(domain=found.domain))
    await record(work, by, "destroy_domain_block", domain=found.domain)


async def _enforce(work: Work, domain: str, marks: Sequence[datetime]) -> None:
    """For each domain that is known there: lift what no longer holds, and do what holds now."""
    for known in await store.known_below(work.db, domain):
        rules = await store.blocks_of(work.db, known)
        for mark in (*marks, *(rule.created_at for rule in rules[1:])):
            await store.lift(work.db, known, mark)
        if not rules:
            continue
        suspended = await store.enforce(work.db, known, rules[0].severity, rules[0].created_at)
        for place in range(0, len(suspended), AT_ONCE):
            ids = suspended[place : place + AT_ONCE]
            work.enqueue(SEVER, Sever(ids=ids, type="domain_block", name=rules[0].domain))


async def allow(work: Work, by: Staff, text: str) -> ServerAllow:
    """One that is allowed already stays so."""
    by.check("manage_federation")
    domain = checked_domain(work, text)
    await work.db.hold("social.server_allows")
    found = await store.find_allow(work.db, domain)
    if found is not None:
        return found
    new = ServerAllow(work.new_id(), domain, work.now)
    await store.insert(work.db, "domain_allow", new)
    await record(work, by, "create_domain_allow", domain=domain)
    return new


async def disallow(work: Work, by: Staff, id: int) -> None:
    by.check("manage_federation")
    found: ServerAllow | None = await store.find(work.db, "domain_allow", id)
    if found is None:
        raise NotFound
    await store.remove(work.db, "domain_allow", id)
    await record(work, by, "destroy_domain_allow", domain=found.domain)
