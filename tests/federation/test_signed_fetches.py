"""Documents for whoever proves who they are, and nothing for others where the operator wants it so."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kith.federation.signatures.signing import Signer, SigningScheme
from tests.federation.asking import ask
from tests.federation.inbox_street import Street, street
from tests.federation.neighbour import RemotePerson, private_key
from tests.social.members import join, set_state, until
from tests.social.posts import post
from tests.town.town import Engine

_names = iter(f"ada{number}" for number in range(1000))


@pytest.fixture(scope="module")
async def lane(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("lane")) as made:
        yield made


@pytest.fixture(scope="module")
async def shut(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("shut"), secure_mode="on") as made:
        yield made


@pytest.fixture
def ada(lane: Street) -> RemotePerson:
    return lane.there.person(next(_names), key=0)


@pytest.fixture
def eve(shut: Street) -> RemotePerson:
    return shut.there.person(next(_names), key=1)


@pytest.mark.parametrize("scheme", SigningScheme)
async def test_a_private_post_is_shown_to_a_follower_who_signs(
    lane: Street, ada: RemotePerson, scheme: SigningScheme
) -> None:
    bob = await join(lane.here)
    said = await post(bob, "Only for some", visibility="private")
    assert (await ada.get(said["uri"], scheme=scheme)).status_code == 404

    await lane.sends(ada, ada.activity("Follow", bob.me["uri"]))

    shown = await ada.get(said["uri"], scheme=scheme)
    assert shown.status_code == 200
    assert "Only for some" in shown.json()["content"]
    assert shown.headers["cache-control"] == "private, no-store"
    assert "signature" in shown.headers["vary"].lower()
    assert (await ask(lane.here, said["uri"])).status_code == 404
    stolen = Signer(ada.key_id, private_key(5))
    assert (await ada.get(said["uri"], signer=stolen)).status_code == 404


async def test_a_public_post_is_shown_to_whoever_signs_wrongly(lane: Street, ada: RemotePerson) -> None:
    bob = await join(lane.here)
    said = await post(bob)

    assert (await ada.get(said["uri"], signer=Signer(ada.key_id, private_key(5)))).status_code == 200
    assert (await ada.get(bob.me["uri"], headers={"signature": "nonsense"})).status_code == 200


# Secure mode


async def test_in_secure_mode_strangers_see_only_the_server(shut: Street, eve: RemotePerson) -> None:
    bob = await join(shut.here)
    said = await post(bob)
    uri = bob.me["uri"]

    for place in (uri, said["uri"], f"{uri}/outbox", f"{uri}/followers", f"{said['uri']}/activity"):
        refused = await ask(shut.here, place)
        assert refused.status_code == 401, place
        assert refused.json() == {"error": "Request not signed"}
        assert (await eve.get(place, signer=Signer(eve.key_id, private_key(5)))).status_code == 401
        shown = await eve.get(place)
        assert shown.status_code == 200, place
        assert shown.headers["cache-control"] == "private, no-store"
        assert "signature" in shown.headers["vary"].lower()
    for place in ("/actor", f"/.well-known/webfinger?resource=acct:{bob.name}@{shut.here.base_url[7:]}",
                  "/.well-known/nodeinfo", "/nodeinfo/2.0", "/api/v1/instance"):  # fmt: skip
        assert (await ask(shut.here, place)).status_code == 200, place
    await shut.sends(eve, eve.activity("Follow", uri))


async def test_that_somebody_is_gone_is_told_to_strangers_in_secure_mode_too(shut: Street) -> None:
    """As WebFinger tells it; of those who are there, and those who never were, nothing is told."""
    bob, cy = await join(shut.here), await join(shut.here)
    said = await post(bob)
    await set_state(shut.here, bob.id, lambda work: {"deleted_at": work.now})
    await set_state(shut.here, cy.id, lambda _: {"is_listed": False})

    for place in (bob.me["uri"], f"{bob.me['uri']}/outbox", said["uri"], f"/@{bob.name}", f"/@{bob.name}/{said['id']}"):
        assert (await ask(shut.here, place)).status_code == 410, place
    for place in (cy.me["uri"], f"{shut.here.base_url}/users/nobody_at_all", f"{cy.me['uri']}/outbox"):
        assert (await ask(shut.here, place)).status_code == 401, place


async def test_what_is_refused_at_the_address_of_a_page_is_refused_in_the_same_words(shut: Street) -> None:
    bob = await join(shut.here)
    said = await post(bob)

    for place in (f"/@{bob.name}", f"/@{bob.name}/{said['id']}"):
        refused = await ask(shut.here, place)
        assert (refused.status_code, refused.json()) == (401, {"error": "Request not signed"})
        assert "signature" in refused.headers["vary"].lower()


async def test_in_secure_mode_nothing_is_told_to_whom_the_owner_blocks(shut: Street, eve: RemotePerson) -> None:
    bob, cy = await join(shut.here), await join(shut.here)
    assert (await eve.get(bob.me["uri"])).status_code == 200

    await bob.to(await shut.account_of(eve), "block")
    await cy.post("/api/v1/domain_blocks", json={"domain": shut.there.domain})

    for one in (bob, cy):
        said = await post(one)
        for place in (one.me["uri"], said["uri"], f"{one.me['uri']}/outbox?page=true"):
            assert (await eve.get(place)).status_code == 404, place


async def test_a_server_that_is_shut_out_gets_and_brings_nothing(shut: Street) -> None:
    mal = shut.away.person("mal")
    bob = await join(shut.here)
    await shut.sends(mal, mal.activity("Like", bob.me["uri"]))

    async def is_refused() -> bool:
        return (await mal.get(bob.me["uri"])).status_code == 403

    async def is_let_in() -> bool:
        return (await mal.get(bob.me["uri"])).status_code == 200

    await shut.here.kith("domains", "block", shut.away.domain, "--severity", "suspend")
    await until(is_refused)
    refused = await shut.says(mal, mal.activity("Like", bob.me["uri"]))
    assert refused.status_code == 403
    assert "error" in refused.json()

    await shut.here.kith("domains", "unblock", shut.away.domain)
    await until(is_let_in)
    await shut.sends(mal, mal.activity("Like", bob.me["uri"]))
