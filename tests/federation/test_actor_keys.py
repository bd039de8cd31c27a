"""Keys of our actors: made for everybody once, sealed, replaced, and deleted after their owners."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from sqlalchemy import bindparam, select

from kith.app import House
from kith.base.db import query
from kith.base.errors import NotFound
from kith.base.jobs.tables import jobs
from kith.base.work import Work
from kith.federation.keys import service, store, tasks
from kith.federation.keys.tables import ActorKey
from kith.federation.signatures.digests import sha256
from kith.federation.signatures.signing import RequestToSign, Signer, SigningScheme, sign
from kith.federation.signatures.verifying import is_valid, read_claim
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId
from tests.federation.vectors import received
from tests.social.members import join, join_all, stranger, until
from tests.town import Town

_jobs = query(select(jobs.c.payload, jobs.c.run_at).where(jobs.c.kind == bindparam("kind")), tuple)


async def find(town: Town, owner: AccountId | None) -> ActorKey | None:
    async with town.house() as house, house.works.begin() as work:
        return await store.find(work.db, owner)


async def made(town: Town, owner: AccountId | None) -> ActorKey:
    """What a job makes soon."""
    found: list[ActorKey | None] = []

    async def is_made() -> bool:
        found[:] = [await find(town, owner)]
        return found[0] is not None

    await until(is_made)
    [key] = found
    assert key is not None
    return key


async def drop(house: House, owner: AccountId) -> None:
    """As with accounts that are older than keys."""
    async with house.works.begin() as work:
        await store.delete_of(work.db, owner)


def believes(public_pem: str, signer: Signer) -> bool:
    key = load_pem_public_key(public_pem.encode())
    assert isinstance(key, RSAPublicKey)
    now = datetime.now(UTC)
    request = RequestToSign("POST", "https://b.example/inbox", sha256(b"{}"))
    headers = sign(signer, request, SigningScheme.CAVAGE, now)
    return is_valid(read_claim(received(headers, target="/inbox", body=b"{}"), now), key)


async def test_everybody_who_joins_gets_a_key_and_so_does_the_server(town: Town) -> None:
    ada, bob = await join_all(town, 2)

    owners = (AccountId(int(ada.id)), AccountId(int(bob.id)), None)
    own = [await made(town, owner) for owner in owners]

    assert len({one.public_key for one in own}) == 3
    for one in own:
        key = load_pem_public_key(one.public_key.encode())
        assert isinstance(key, RSAPublicKey)
        assert key.key_size == 2048
        assert one.public_key.startswith("-----BEGIN PUBLIC KEY-----\n")


async def test_private_keys_are_sealed_and_sign_for_their_owners(town: Town) -> None:
    ada = await join(town)
    owner = AccountId(int(ada.id))
    row = await made(town, owner)
    assert "PRIVATE" not in row.private_key
    assert row.private_key.startswith("v1:")

    async with town.house() as house, house.works.begin() as work:
        hers, ours = await service.signer(work, owner), await service.signer(work, None)
        server_key = await service.public_key(work, None)
        assert hers.key is (await service.signer(work, owner)).key  # parsed once

    assert hers.key_id == f"{town.base_url}/users/{ada.name}#main-key"
    assert ours.key_id == f"{town.base_url}/actor#main-key"
    assert believes(row.public_key, hers)
    assert believes(server_key, ours)
    assert not believes(server_key, hers)


async def test_whoever_asks_before_there_is_a_key_waits_and_all_get_the_same(town: Town) -> None:
    """In one process and in two."""
    ada = await join(town)
    owner = AccountId(int(ada.id))
    await made(town, owner)

    async def ask(house: House) -> str:
        async with house.works.begin() as work:
            return await service.public_key(work, owner)

    async with town.house() as house, town.house() as other:
        await drop(house, owner)
        got = await asyncio.gather(*(ask(one) for one in (house, other, house, house, other)))

    [only] = set(got)
    found = await find(town, owner)
    assert found is not None
    assert found.public_key == only


async def test_a_key_is_made_to_the_end_although_whoever_asked_went_away(town: Town) -> None:
    ada = await join(town)
    owner = AccountId(int(ada.id))
    await made(town, owner)

    async with town.house() as house:
        await drop(house, owner)
        async with house.works.begin() as work:
            asking = asyncio.create_task(service.public_key(work, owner))
            other = asyncio.create_task(service.public_key(work, owner))
            await asyncio.sleep(0)
            asking.cancel()
            pem = await other
            with pytest.raises(asyncio.CancelledError):
                await asking

    assert (await made(town, owner)).public_key == pem


async def test_keys_are_made_neither_for_strangers_nor_in_a_transaction(town: Town) -> None:
    elsewhere, ada = await stranger(town), await join(town)
    owner = AccountId(int(ada.id))
    await made(town, owner)

    async with town.house() as house:
        await drop(house, owner)
        for nobody in (elsewhere.id, AccountId(1)):
            async with house.works.begin() as work:
                with pytest.raises(NotFound):
                    await service.public_key(work, nobody)
                with pytest.raises(NotFound):
                    await service.rotate(work, nobody)
        for ask in (service.public_key, service.rotate):
            with pytest.raises(RuntimeError, match="in the middle of a transaction"):
                async with house.works.begin() as work:
                    await work.db.begin()
                    await ask(work, owner)


@pytest.mark.parametrize("whose", ["an account", "the server"])
async def test_an_operator_can_have_a_new_key_made(town: Town, whose: str) -> None:
    ada = await join(town)
    owner = AccountId(int(ada.id)) if whose == "an account" else None
    before = await made(town, owner)

    said = await town.kith("federation", "rotate-key", *([ada.name] if owner else []))

    assert "signs with a new key" in said
    assert (await made(town, owner)).public_key != before.public_key
    assert "there is no account nobody_here" in await town.kith("federation", "rotate-key", "nobody_here", expect=1)


@pytest.mark.parametrize("whose", ["an account", "the server"])
async def test_a_rotated_key_is_another_and_the_old_one_tells_of_it(town: Town, whose: str) -> None:
    ada = await join(town)
    owner = AccountId(int(ada.id)) if whose == "an account" else None
    before = await made(town, owner)

    async with town.house() as house:
        async with house.works.begin() as work:
            old_signer = await service.signer(work, owner)
            version = await _version(work, ada.id)
            assert owner is None or await service.previous_signer(work, owner) is None
        async with house.works.begin() as work:
            await service.rotate(work, owner)
        async with house.works.begin() as work:
            after = await service.ensure(work, owner)
            now, previous = await service.signer(work, owner), await service.previous_signer(work, owner)
            rose = await _version(work, ada.id) > version

    assert previous is not None
    assert after.public_key != before.public_key
    assert believes(after.public_key, now)
    assert not believes(after.public_key, old_signer)
    assert believes(before.public_key, previous)
    assert (now.key_id, previous.key_id) == (old_signer.key_id, old_signer.key_id)
    assert rose is (owner is not None)  # what was rendered of the account is rendered anew

    async with town.house() as house, house.works.begin() as work:
        assert await _days_until(work, "federation_keys.forget_previous", after.id) == 3
        await tasks.forget_previous(work, tasks.ForgetPreviousKey(before.id))
        assert await service.previous_signer(work, owner) is not None  # that was not this key's
        await tasks.forget_previous(work, tasks.ForgetPreviousKey(after.id))
        assert await service.previous_signer(work, owner) is None
        assert (await service.ensure(work, owner)).public_key == after.public_key


async def _version(work: Work, id: str) -> int:
    account = await accounts.find(work.db, AccountId(int(id)))
    assert account is not None
    return account.version


async def _user_id(town: Town, owner: AccountId) -> int:
    async with town.house() as house, house.works.begin() as work:
        account = await accounts.find(work.db, owner)
    assert account is not None
    assert account.user_id is not None
    return account.user_id


async def _days_until(work: Work, kind: str, id: int) -> int:
    """When a job of this kind about `id` is due."""
    at: datetime
    [at] = [at for payload, at in await work.db.all(_jobs, kind=kind) if str(id) in payload]
    return (at - datetime.now(UTC) + timedelta(hours=12)).days


async def test_whoever_is_gone_can_say_goodbye_and_then_the_key_goes_too(town: Town) -> None:
    ada = await join(town)
    owner = AccountId(int(ada.id))
    row = await made(town, owner)

    assert (
        await (await town.owner()).call("DELETE", f"/api/v2/core/users/{await _user_id(town, owner)}/")
    ).status_code == 204
    async with town.house() as house, house.works.begin() as work:
        account = await accounts.find(work.db, owner)
        assert account is not None
        assert account.deleted_at is not None
        assert believes(row.public_key, await service.signer(work, owner))
        with pytest.raises(NotFound):
            await service.rotate(work, owner)
        assert await _days_until(work, "federation_keys.delete", owner) == 3

    async with town.house() as house, house.works.begin() as work:
        await tasks.delete(work, tasks.DeleteKey(owner))
    async with town.house() as house, house.works.begin() as work:
        assert await store.find(work.db, owner) is None
        with pytest.raises(NotFound):
            await service.public_key(work, owner)
