"""/core/user_consent/: what people have agreed to, for themselves and for those who may see it all."""

from __future__ import annotations

import pytest

from tests.identity.oauth_clients import agree, enter, make_client, signed_in
from tests.identity.records import API, owner_of, person_who_may, results
from tests.town import Person, Town

PATH = "/core/user_consent/"


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def id_of(person: Person) -> int:
    return int((await person.get(f"{API}/core/users/me/")).json()["pk"])


async def test_consents_are_seen_narrowed_and_withdrawn(town: Town, ada: Person) -> None:
    bob, eve = await town.sign_up(), await town.sign_up()
    client, other = await make_client(town), await make_client(town)
    for person, clients in ((bob, (client, other)), (eve, (client,))):
        browser = await signed_in(town, person)
        for one in clients:
            await enter(browser, one, scope="openid email")
            await browser.http.get(await agree(browser))
    his, hers = await id_of(bob), await id_of(eve)

    own = await results(bob, PATH)
    assert {one["user"] for one in own} == {his}
    assert len(own) == 2
    assert {one["permissions"] for one in own} == {"email openid"}
    first = own[0]
    assert set(first) >= {"pk", "user", "application", "permissions", "expires", "expiring", "application_name"}
    assert first["expiring"] is (first["expires"] is not None)
    item = f"{API}{PATH}{first['pk']}/"
    assert (await bob.get(item)).json() == first
    for method in ("GET", "DELETE"):
        assert (await eve.call(method, item)).status_code == 404
    assert [one["user"] for one in await results(eve, PATH, user=his)] == [hers]
    assert [one["pk"] for one in await results(bob, PATH, application=first["application"])] == [first["pk"]]
    assert [one["pk"] for one in await results(bob, PATH, search=first["application_name"])] == [first["pk"]]
    for method in ("PUT", "PATCH", "POST"):
        assert (await bob.call(method, item if method != "POST" else API + PATH, json={})).status_code == 405

    looker = await person_who_may(town, ada, "core.view_userconsent")
    assert len(await results(looker, PATH, user=his)) == 2
    assert (await looker.get(item)).status_code == 200
    assert (await looker.call("DELETE", item)).status_code == 404
    assert (await town.http.get(API + PATH)).status_code == 401

    assert (await bob.call("DELETE", item)).status_code == 204
    assert [one["pk"] for one in await results(bob, PATH)] == [own[1]["pk"]]
    [event] = await results(ada, "/audit/events/", action="model_deleted", username=bob.username)
    assert event["context"]["model"] == {
        "app": "core",
        "model_name": "userconsent",
        "pk": first["pk"],
        "name": first["application_name"],
    }
    [theirs] = await results(ada, PATH, user=hers)
    assert (await ada.call("DELETE", f"{API}{PATH}{theirs['pk']}/")).status_code == 204
    assert await results(eve, PATH) == []
