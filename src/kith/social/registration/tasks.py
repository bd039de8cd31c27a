from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts.facts import AccountWelcomed
from kith.social.ids import AccountId
from kith.social.registration import service

WELCOME_AFTER = timedelta(hours=1)


class Welcome(msgspec.Struct):
    account_id: AccountId


async def receive(work: Work, fact: AccountWelcomed) -> None:
    """Whoever signed up by themselves follows whoever invited them, and is written to when they have looked around."""
    found = await service.find_newcomer(work, fact.account_id)
    if found is None:
        return
    work.enqueue(WELCOME, Welcome(fact.account_id), at=work.now + WELCOME_AFTER, key=f"welcome:{fact.account_id}")
    await service.follow_inviter(work, *found)


async def send_welcome(work: Work, payload: Welcome) -> None:
    found = await service.find_newcomer(work, payload.account_id)
    if found is not None:
        await service.welcome(work, *found)


RECEIVE: JobKind[AccountWelcomed] = JobKind(name="registration.receive", payload=AccountWelcomed, handler=receive)
WELCOME: JobKind[Welcome] = JobKind(name="registration.welcome", payload=Welcome, handler=send_welcome)
