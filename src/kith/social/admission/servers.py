"""Which servers are blocked, and what that does to the accounts of theirs that are known here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.admission import store
from kith.social.admission.facts import ServerAllowChanged, ServerBlockChanged, ServerLetIn
from kith.social.admission.tables import NOT_LISTED, ServerAllow, ServerBlock
from kith.social.moderation.severing import SEVER, Sever
from kith.social.staff import Staff, record
from kith.social.text.domains import domain_of

SEVERITIES = ("silence", "suspend", "noop")
LONGEST_COMMENT = 10_000
LATER = timedelta(minutes=1)


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
    if existing is not None and (existing.domain == domain or not is_stricter(new, existing)):
        raise StricterAlready(domain, existing)
    await store.insert(work.db, "domain_block", new)
    await _enforce(work, domain, ())
    _told(work, domain)
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


def is_stricter(one: ServerBlock, other: ServerBlock) -> bool:
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
    if before.severity == "suspend" != after.severity:
        work.announce(ServerLetIn(domain=before.domain, since=before.created_at))
    _told(work, before.domain)
    await record(work, by, "update_domain_block", domain=before.domain, severity=after.severity)
    return after


async def unblock(work: Work, by: Staff, id: int) -> None:
    """What it did to accounts is undone; follows that it cut stay cut, which their servers are told now."""
    by.check("manage_federation")
    await work.db.hold("social.server_blocks")
    found = await find(work, id)
    await store.remove(work.db, "domain_block", id)
    await _enforce(work, found.domain, [found.created_at])
    if found.severity == "suspend":
        work.announce(ServerLetIn(domain=found.domain, since=found.created_at))
    _told(work, found.domain)
    await record(work, by, "destroy_domain_block", domain=found.domain)


def _told(work: Work, domain: str) -> None:
    work.announce(ServerBlockChanged(domain=domain))
    work.enqueue(ENFORCE, Enforce(domain=domain), at=work.now + LATER, key=domain)


class Enforce(msgspec.Struct):
    """Accounts that were stored beside a block, neither of the two knowing of the other, are found a little later."""

    domain: str


async def enforce(work: Work, payload: Enforce) -> None:
    await work.db.hold("social.server_blocks")
    await _enforce(work, payload.domain, ())


ENFORCE: JobKind[Enforce] = JobKind(name="admission.enforce", payload=Enforce, handler=enforce)


async def _enforce(work: Work, domain: str, marks: Sequence[datetime]) -> None:
    """For each domain that is known there: lift what no longer holds, and do what holds now."""
    for known in await store.known_below(work.db, domain):
        rules = await store.blocks_of(work.db, known)
        for mark in (*marks, *(rule.created_at for rule in rules[1:])):
            await store.lift(work.db, known, mark)
        if work.settings.is_allow_list and await store.find_allow(work.db, known) is None:
            await store.shut_out(work.db, known)
        if not rules:
            continue
        if rules[0].severity == "suspend":
            await store.lift(work.db, known, NOT_LISTED)
        if await store.enforce(work.db, known, rules[0].severity, rules[0].created_at):
            _sever(work, known, rules[0].domain)


def _sever(work: Work, domain: str, name: str) -> None:
    work.enqueue(SEVER, Sever(ids=[], type="domain_block", name=name, domain=domain))


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
    await store.lift(work.db, domain, NOT_LISTED)
    await _enforce(work, domain, ())
    if work.settings.is_allow_list:
        work.announce(ServerLetIn(domain=domain, since=NOT_LISTED))
    work.announce(ServerAllowChanged(domain=domain))
    await record(work, by, "create_domain_allow", domain=domain)
    return new


async def disallow(work: Work, by: Staff, id: int) -> None:
    by.check("manage_federation")
    found: ServerAllow | None = await store.find(work.db, "domain_allow", id)
    if found is None:
        raise NotFound
    await store.remove(work.db, "domain_allow", id)
    if work.settings.is_allow_list:
        await store.shut_out(work.db, found.domain)
        _sever(work, found.domain, found.domain)
    work.announce(ServerAllowChanged(domain=found.domain))
    await record(work, by, "destroy_domain_allow", domain=found.domain)


async def find_named(work: Work, text: str) -> ServerBlock | None:
    """The block of exactly this domain."""
    domain = checked_domain(work, text)
    return next((one for one in await store.blocks_of(work.db, domain) if one.domain == domain), None)


async def let_in(work: Work, by: Staff, text: str) -> str:
    """Take away what keeps a domain out: its block, and that it is not listed where only listed servers are let in.

    One that is not blocked can be listed before there is a list.
    """
    found = await find_named(work, text)
    if found is not None:
        await unblock(work, by, found.id)
    if found is None or work.settings.is_allow_list:
        await allow(work, by, text)
    return checked_domain(work, text)


async def shut_out(work: Work, by: Staff, text: str) -> str:
    """Take a domain from the list of servers that are let in."""
    domain = checked_domain(work, text)
    found = await store.find_allow(work.db, domain)
    if found is None:
        raise NotFound(f"{domain} is not on the list")
    await disallow(work, by, found.id)
    return domain
