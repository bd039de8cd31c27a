"""What is over is forgotten, and what the operator has set reaches the accounts that are known here."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.admission import store
from kith.social.admission.facts import ServerLetIn
from kith.social.admission.tables import NOT_LISTED

KEPT = timedelta(days=14)
DOMAINS_AT_ONCE = 50


class Forget(msgspec.Struct):
    """Blocks whose time is over, and tries of long ago."""


async def forget(work: Work, _payload: Forget) -> None:
    await store.forget(work.db, work.now, (work.now - KEPT).date().isoformat())


FORGET: JobKind[Forget] = JobKind(name="admission.forget", payload=Forget, handler=forget)


class FitMode(msgspec.Struct):
    """Hide everybody whose server is not on the list, or show them again once there is no list.

    Follows stay: where the list was only tried out, everything is as it was.
    """

    after: str = ""
    goes_on: bool = False


async def fit_mode(work: Work, payload: FitMode) -> None:
    mode = work.settings.federation
    if not payload.goes_on and await store.federation_mode_kept(work.db) == mode:
        return
    await work.db.hold("social.server_allows")
    await store.keep_federation_mode(work.db, mode)
    if work.settings.is_allow_list:
        domains = await store.unlisted_domains(work.db, payload.after, DOMAINS_AT_ONCE)
    else:
        domains = await store.marked_domains(work.db, NOT_LISTED, payload.after, DOMAINS_AT_ONCE)
    for domain in domains:
        if work.settings.is_allow_list:
            await store.shut_out(work.db, domain)
        else:
            await store.lift(work.db, domain, NOT_LISTED)
            work.announce(ServerLetIn(domain=domain, since=NOT_LISTED))
    if len(domains) == DOMAINS_AT_ONCE:
        work.enqueue(FIT_MODE, FitMode(after=domains[-1], goes_on=True))


FIT_MODE: JobKind[FitMode] = JobKind(name="admission.fit_mode", payload=FitMode, handler=fit_mode)
