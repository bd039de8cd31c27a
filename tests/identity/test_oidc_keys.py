"""Old signing keys stay published and valid, whoever replaces them."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from sqlalchemy import bindparam, delete

from kith.base.db import command
from kith.identity.providers.oauth2.tables import used_keys
from tests.identity.flow_browser import Browser
from tests.identity.records import API, new_name, owner_of
from tests.identity.relying_party import RelyingParty, make_party, signed_in
from tests.town import Person, Town

_forget = command(delete(used_keys).where(used_keys.c.provider_id == bindparam("provider")))
BYE = "https://rp.example/bye"


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def make_pair(ada: Person, alg: str = "ecdsa") -> str:
    order = {"common_name": new_name("key"), "validity_days": 30, "alg": alg}
    made = await ada.call("POST", f"{API}/crypto/certificatekeypairs/generate/", json=order)
    assert made.status_code == 201, made.text
    return str(made.json()["pk"])


async def published(party: RelyingParty) -> list[str]:
    answer = await party.http.get(f"/application/o/{party.slug}/jwks/")
    return [one["kid"] for one in answer.json()["keys"]]


async def change(ada: Person, party: RelyingParty, **fields: Any) -> None:
    path = f"{API}/providers/openid/{party.provider['pk']}/"
    changed = await ada.call("PATCH", path, json=fields)
    assert changed.status_code == 200, changed.text


async def is_believed(party: RelyingParty, token: str) -> bool:
    """As the hint of somebody who wants to be sent back after signing out."""
    asked = {"id_token_hint": token, "post_logout_redirect_uri": BYE}
    answer = await Browser(party.town).http.get(f"/application/o/{party.slug}/end-session/", params=asked)
    return bool(answer.headers.get("location") == BYE)


async def test_what_a_key_signed_can_be_checked_after_an_administrator_chose_another(town: Town, ada: Person) -> None:
    _, browser = await signed_in(town)
    first, second = await make_pair(ada), await make_pair(ada, "ed25519")
    party = await make_party(town, ada, signing_key=first, post_logout_redirect_uris=BYE)
    tokens = []
    for signing_key, alg in ((first, "ES256"), (second, "EdDSA"), (None, "RS256")):
        await change(ada, party, signing_key=signing_key, jwt_alg=alg)
        tokens.append((await party.tokens(browser))["id_token"])
    await change(ada, party, jwt_alg="HS256")

    kids = [jwt.get_unverified_header(token)["kid"] for token in tokens]

    assert len(set(kids)) == 3
    assert set(kids) <= set(await published(party))
    for token in tokens:
        assert (await party.read(token))["aud"] == party.id
        assert await is_believed(party, token)
    stranger = await make_party(town, ada, signing_key=second)
    assert kids[0] not in await published(stranger)

    assert (await ada.call("DELETE", f"{API}/crypto/certificatekeypairs/{first}/")).status_code == 204
    assert kids[0] not in await published(party)
    assert [await is_believed(party, token) for token in tokens] == [False, True, True]


@pytest.mark.parametrize("has_pair", [True, False])
async def test_a_key_that_is_replaced_stays_even_if_nobody_noted_that_it_signed(
    town: Town, ada: Person, has_pair: bool
) -> None:
    """As what was signed by a version that did not note it."""
    _, browser = await signed_in(town)
    old = {"signing_key": await make_pair(ada), "jwt_alg": "ES256"} if has_pair else {}
    party = await make_party(town, ada, **old)
    token = (await party.tokens(browser))["id_token"]
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_forget, provider=party.provider["pk"])

    await change(ada, party, signing_key=await make_pair(ada, "ed25519"), jwt_alg="EdDSA")

    assert jwt.get_unverified_header(token)["kid"] in await published(party)
    assert (await party.read(token))["aud"] == party.id


async def test_an_operator_makes_new_keys_and_old_ones_stay(town: Town, ada: Person) -> None:
    _, browser = await signed_in(town)
    pair = await make_pair(ada)
    own = await make_party(town, ada, signing_key=pair, post_logout_redirect_uris=BYE)
    shared = await make_party(town, ada, signing_key=pair)
    plain = await make_party(town, ada, post_logout_redirect_uris=BYE)
    secret = await make_party(town, ada, jwt_alg="HS256")
    for _ in range(2):
        await make_party(town, ada, kind="oauth", name="", signing_key=await make_pair(ada))

    for party, name in ((own, own.slug), (plain, plain.slug)):
        old = (await party.tokens(browser))["id_token"]
        said = await town.kith("keys", "rotate", name)
        new = (await party.tokens(browser))["id_token"]
        kids = [jwt.get_unverified_header(token)["kid"] for token in (old, new)]
        assert kids[0] != kids[1]
        assert f"The old key {kids[0]} stays published until" in said
        assert kids[1] in said
        assert set(kids) <= set(await published(party))
        for token in (old, new):
            assert (await party.read(token))["aud"] == party.id
            assert await is_believed(party, token)

    assert jwt.get_unverified_header((await shared.tokens(browser))["id_token"])["kid"] != kids[1]
    before = {party.slug: await published(party) for party in (own, shared, plain)}
    said = await town.kith("keys", "rotate")
    assert secret.application["name"] in said
    for party in (own, shared, plain):
        after = await published(party)
        assert set(before[party.slug]) < set(after)
    tokens = [(await party.tokens(browser))["id_token"] for party in (own, plain)]
    said = await town.kith("keys", "rotate", "--leaked")
    assert "not believed any more" in said
    for party, token in zip((own, plain), tokens, strict=True):
        assert jwt.get_unverified_header(token)["kid"] not in await published(party)
        assert not await is_believed(party, token)
        assert await is_believed(party, (await party.tokens(browser))["id_token"])
    assert "there is no OAuth or OpenID provider nothing" in await town.kith("keys", "rotate", "nothing", expect=1)
