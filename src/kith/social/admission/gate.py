"""Who is kept out: asked at sign-up, at sign-in, before posting, and for every request by where it comes from."""

from __future__ import annotations

import ipaddress
import time
from datetime import datetime

from kith.base.work import Work, Works
from kith.identity import for_social as identity
from kith.identity import for_staff
from kith.social.accounts import store as accounts
from kith.social.admission import store
from kith.social.admission.emails import domains_of, hash_of
from kith.social.admission.facts import BlocksChanged
from kith.social.admission.tables import IPBlock
from kith.social.ids import UserId
from kith.social.roles import store as roles

SECONDS = 10.0  # what is kept is read again after so long, although its changes are told

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def covers(network: str, client_ip: str) -> bool:
    try:
        address = ipaddress.ip_address(client_ip)
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return address in ipaddress.ip_network(network)
    except ValueError:
        return False


class AddressGate:
    """The blocked networks, in memory, and whether any mail address is blocked at all."""

    def __init__(self, works: Works) -> None:
        self._works = works
        self._until = 0.0
        self._blocks: list[IPBlock] = []
        self._any_email = False
        works.news.listen(BlocksChanged, self._forget)

    def _forget(self, _fact: BlocksChanged) -> None:
        self._until = 0.0

    async def _refresh(self) -> None:
        self._until = time.monotonic() + SECONDS
        work = self._works.open()
        try:
            self._blocks = await store.live_ip_blocks(work.db, work.now)
            self._any_email = await store.blocks_any_email(work.db)
        finally:
            await work.rollback()

    async def turns_away(self, client_ip: str) -> bool:
        """Nobody from there gets anything."""
        if time.monotonic() >= self._until:
            await self._refresh()
        return bool(self._blocks) and self._is_listed(client_ip, "no_access")

    def _is_listed(self, client_ip: str, *severities: str, now: datetime | None = None) -> bool:
        return any(
            one.severity in severities and covers(one.network, client_ip)
            for one in self._blocks
            if one.expires_at is None or one.expires_at > (now or datetime.now(one.expires_at.tzinfo))
        )

    # For the identity half

    async def refuses_signup(self, work: Work, client_ip: str) -> bool:
        return await self._blocked_from(work, client_ip, "sign_up_block", "no_access")

    async def wants_approval(self, work: Work, email: str, client_ip: str) -> bool:
        if await self._blocked_from(work, client_ip, "sign_up_requires_approval"):
            return True
        found = await store.email_domains_among(work.db, domains_of(email)) if email else []
        return any(one.allow_with_approval for one in found)

    async def vouches(self, work: Work, user_id: int) -> bool:
        """Whoever may approve people themselves, or was given the right to bring them in."""
        person, account = (
            await identity.find_person(work, user_id),
            await accounts.find_of_user(work.db, UserId(user_id)),
        )
        if person is None:
            return False
        role = (await roles.load(work.db)).of(person.role, None if account is None else account.role_id)
        return role.allows("invite_bypass_approval", "manage_users") or await for_staff.is_mighty(work, user_id)

    async def _blocked_from(self, work: Work, client_ip: str, *severities: str) -> bool:
        """Sign-ups are few, so the blocks are read as they are now."""
        found = await store.live_ip_blocks(work.db, work.now)
        return any(one.severity in severities and covers(one.network, client_ip) for one in found)

    async def refuses_email(self, work: Work, email: str, *, at_signup: bool = False) -> bool:
        if await store.find_canonical(work.db, hash_of(email)) is not None:
            return True
        found = await store.email_domains_among(work.db, domains_of(email))
        if found and at_signup and not work.db.is_writing:
            async with work.aside() as aside:
                for one in found:
                    day = work.now.date().isoformat()
                    await store.note_try(aside.db, one.domain, day, work.origin.address[:45])
        return any(not one.allow_with_approval for one in found)

    # For the social half

    async def may_post(self, work: Work, user_id: UserId) -> bool:
        if time.monotonic() >= self._until and not work.db.is_writing:
            await self._refresh()
        if not self._any_email:
            return True
        person = (await for_staff.staff_view.records_of(work.db, [user_id])).get(user_id)
        return person is None or not await for_staff.is_turned_away(work, user_id, person.email, person.role)
