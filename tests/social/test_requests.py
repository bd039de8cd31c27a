"""What clients send in their own ways: bodies of GETs, files as text, nested parameters that are none, tokens."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.params import read_form
from kith.base.params.folding import flatten
from tests.social.members import join, join_all
from tests.social.posts import ids, post, settle
from tests.social.samples import image_file, sound
from tests.town import Town

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
_key = st.text("abcdefgh_", min_size=1, max_size=6)
_leaf = st.text("xyz &=%+é", min_size=1, max_size=6)
_tree = st.dictionaries(
    _key,
    st.one_of(_leaf, st.lists(_leaf, min_size=1, max_size=3), st.dictionaries(_key, _leaf, min_size=1, max_size=3)),
    max_size=4,
)


@given(_tree)
def test_what_a_body_says_a_query_can_say(sent: dict[str, Any]) -> None:
    assert read_form(urlencode(flatten(sent)).encode()) == sent


def test_what_is_no_text_is_written_as_forms_write_it() -> None:
    assert flatten({"a": True, "b": [1, None, False], "c": None, "d": {"e": [{"f": 2}]}}) == [
        ("a", "true"),
        ("b[]", "1"),
        ("b[]", "false"),
        ("d[e][][f]", "2"),
    ]


async def test_parameters_in_the_body_of_a_get(town: Town) -> None:
    ada, bob, cy = await join_all(town, 3)
    await ada.to(bob, "follow")
    said = [(await post(ada, str(number)))["id"] for number in range(3)]
    both = [bob.id, cy.id]

    async def get(path: str, kind: str, body: Any, **options: Any) -> Any:
        content = json.dumps(body) if kind == JSON else body
        answer = await ada.call("GET", path, content=content, headers={"Content-Type": kind}, **options)
        assert answer.status_code == 200, answer.text
        return answer.json()

    as_form = "&".join(f"id[]={id}" for id in both)
    for path in ("/api/v1/accounts/relationships", "/api/v1/accounts/familiar_followers", "/api/v1/accounts"):
        wanted = [one["id"] for one in await ada.get(path, params={"id[]": both})]
        assert sorted(wanted) == both, path
        for kind, body in ((JSON, {"id": both}), (FORM, as_form)):
            assert sorted(one["id"] for one in await get(path, kind, body)) == both, (path, kind)
            # What the body says goes before what the query says.
            found = await get(path, kind, body, params={"id": ada.id})
            assert sorted(one["id"] for one in found) == both, (path, kind)
    # Also where pages are turned, and where the framework is not asked.
    for path in ("/api/v1/timelines/home", f"/api/v1/accounts/{ada.id}/statuses"):
        assert [one["id"] for one in await get(path, JSON, {"limit": 1})] == said[2:]
        assert [one["id"] for one in await get(path, FORM, f"max_id={said[1]}")] == said[:1]
    people = await get("/api/v2/search", JSON, {"q": bob.name, "type": "accounts", "limit": 1})
    assert [one["id"] for one in people["accounts"]] == [bob.id]


async def test_a_bad_body_of_a_get(town: Town) -> None:
    ada = await join(town)
    path = "/api/v1/accounts/relationships"
    for kind, body, status in (
        (JSON, b"{", 400),
        (JSON, b"[1]", 400),
        (FORM, b"id=%zz", 400),
        (FORM, b"a=" + b"x" * 70_000, 413),
        (JSON, b"", 200),
        (FORM, b"", 200),
        ("text/plain", b"whatever", 200),
        (JSON, b'{"id": {"a": {"b": 1}}}', 422),
    ):
        answer = await ada.call("GET", path, content=body, headers={"Content-Type": kind})
        assert answer.status_code == status, (kind, body[:20], answer.text)
        assert status == 200 or answer.json()["error"]


async def test_nested_parameters_that_are_none_are_dropped(town: Town) -> None:
    ada = await join(town)
    path = "/api/v1/accounts/update_credentials"
    kept = [{"name": "Site", "value": "mine", "verified_at": None}]
    await ada.patch(path, json={"fields_attributes": [{"name": "Site", "value": "mine"}]})
    nothings: list[dict[str, Any]] = [
        {"data": {"fields_attributes": "undefined", "note": "a"}},
        {"json": {"fields_attributes": "x", "note": "b"}},
        {"json": {"fields_attributes": 7}},
        {"json": {"fields_attributes": None}},
        {"data": {"fields_attributes": ""}},
        {"json": {"source": "undefined"}},
        {"json": {"source": []}},
    ]
    for sent in nothings:
        assert (await ada.patch(path, **sent))["fields"] == kept, sent
    mixed = [{"name": "Site", "value": "mine"}, "undefined", None, {}]
    assert (await ada.patch(path, json={"fields_attributes": mixed}))["fields"] == kept
    # A poll that is none makes a post without one.
    polls: list[Any] = [{}, [], "undefined", "", None, 1]
    for poll in polls:
        made = await post(ada, "Without", poll=poll)
        assert made["poll"] is None, poll
        edited = await ada.does("PUT", f"/api/v1/statuses/{made['id']}", json={"status": "Still", "poll": poll})
        assert edited["poll"] is None, poll
    plain = await post(ada, "Plain")
    described: list[Any] = ["undefined", [], {}, ["x", None], 3]
    for attributes in described:
        edit = {"status": "Plainer", "media_attributes": attributes}
        assert (await ada.does("PUT", f"/api/v1/statuses/{plain['id']}", json=edit))["content"] == "<p>Plainer</p>"
    assert await ada.post("/api/v1/markers", json={"home": "undefined", "notifications": {}}) == {}
    # One that says something wrong is told so.
    answer = await ada.call("POST", "/api/v1/statuses", json={"status": "x", "poll": {"options": ["a"]}})
    assert answer.status_code == 422


def written_out(content: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


async def test_files_may_be_written_out_as_text(town: Town) -> None:
    ada = await join(town)
    files = {"file": ("x.wav", sound("wav", "pcm_s16le")), "thumbnail": ("x.png", image_file("PNG", (20, 20)))}
    media = (await ada.call("POST", "/api/v1/media", files=files)).json()
    made = await post(ada, "A song", media_ids=[media["id"]])
    [before] = made["media_attachments"]
    picture = written_out(image_file("PNG", (40, 20)))
    attributes = [{"id": media["id"], "description": "Birds", "thumbnail": picture}]
    sent = {"status": "A song", "media_ids": [media["id"]], "media_attributes": attributes}
    [after] = (await ada.does("PUT", f"/api/v1/statuses/{made['id']}", json=sent))["media_attachments"]
    assert after["description"] == "Birds"
    assert after["preview_url"] != before["preview_url"]
    assert (after["meta"]["small"]["width"], after["meta"]["small"]["height"]) == (40, 20)
    # The same for every other file, in JSON and in a form.
    large = written_out(image_file("PNG", (40, 20)) + bytes(1 << 20))
    for options in ({"json": {"avatar": large}}, {"data": {"header": large}}):
        mine = await ada.patch("/api/v1/accounts/update_credentials", **options)
        name = "avatar" if "json" in options else "header"
        assert "missing" not in mine[name]
    uploaded = await ada.post("/api/v1/media", json={"file": written_out(image_file("PNG", (64, 48)))})
    assert uploaded["meta"]["original"]["width"] == 64
    for wrong in ("data:image/png;base64,%%%", "data:image/png,abc", "data:;base64", "/etc/passwd", "http://x/y.png"):
        answer = await ada.call("PATCH", "/api/v1/accounts/update_credentials", json={"avatar": wrong})
        assert (answer.status_code, answer.json()["error"]) == (422, "Validation failed: Avatar is not a file"), wrong


async def test_a_token_may_be_a_parameter(town: Town) -> None:
    ada = await join(town)
    said = (await post(ada, "Hello"))["id"]
    query = {"access_token": ada.token}
    for path in (
        "/api/v1/accounts/verify_credentials",
        "/api/v1/timelines/home",
        "/api/v1/notifications",
        "/api/v1/lists",
        f"/api/v1/statuses/{said}",
        "/oauth/userinfo",
        "/api/v1/apps/verify_credentials",
        "/api/v1/preferences",
    ):
        assert (await town.http.get(path, params=query)).status_code == 200, path
        wrong = await town.http.get(path, params={"access_token": "x"})
        assert wrong.status_code == 401, path
    for options in (
        {"params": query},
        {"data": query},
        {"json": query},
        {"files": {"access_token": (None, ada.token)}},
    ):
        answer = await town.http.post(f"/api/v1/statuses/{said}/favourite", **options)
        assert (answer.status_code, answer.json().get("favourited")) == (200, True), options
    sent = {"access_token": ada.token, "status": "By parameter"}
    bodies: list[dict[str, Any]] = [{"data": sent}, {"json": sent}]
    for options in bodies:
        assert (await town.http.post("/api/v1/statuses", **options)).json()["content"] == "<p>By parameter</p>"
    answer = await town.http.request(
        "GET", "/api/v1/accounts/verify_credentials", content=json.dumps(query), headers={"Content-Type": JSON}
    )
    assert answer.json()["id"] == ada.id


async def test_own_votes_stand_in_the_order_voted(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    poll = (await post(ada, "Which?", poll={"options": ["a", "b", "c"], "expires_in": 600, "multiple": True}))["poll"]
    path = f"/api/v1/polls/{poll['id']}"
    assert (await bob.post(f"{path}/votes", json={"choices": [2, 0]}))["own_votes"] == [2, 0]
    assert (await bob.post(f"{path}/votes", json={"choices": [1]}))["own_votes"] == [2, 0, 1]
    assert (await bob.get(path))["own_votes"] == [2, 0, 1]


async def test_pictures_that_an_edit_took_out_are_not_found(town: Town) -> None:
    ada = await join(town)
    files = [("file", ("x.png", image_file("PNG"))), ("file", ("y.png", image_file("PNG", (30, 30))))]
    one, other = [(await ada.call("POST", "/api/v1/media", files=[file])).json()["id"] for file in files]
    word = f"seaside{ada.id}"
    made = await post(ada, f"At the {word}", media_ids=[one, other])
    await settle(town)
    path = f"/api/v1/statuses/{made['id']}"

    async def found(wanted: str) -> bool:
        answer = await ada.get("/api/v2/search", params={"q": f"{word} {wanted}", "type": "statuses"})
        return [status["id"] for status in answer["statuses"]] == [made["id"]]

    assert await found("has:image")
    await ada.does("PUT", path, json={"status": f"At the {word}", "media_ids": [other]})
    assert await found("has:image")
    await ada.does("PUT", path, json={"status": f"At the {word}"})
    assert not await found("has:image")
    assert await found("-has:image")


async def test_tags_are_found_by_length_and_name(town: Town) -> None:
    ada = await join(town)
    word = f"t{ada.id}"
    names = [f"{word}bb", word, f"{word}ba", f"{word}a", f"{word}aaa"]
    for name in names:
        await post(ada, f"#{name}")
    answer = await ada.get("/api/v2/search", params={"q": word, "type": "hashtags"})
    expected = [word, f"{word}a", f"{word}ba", f"{word}bb", f"{word}aaa"]
    assert [tag["name"] for tag in answer["hashtags"]] == expected
    answer = await ada.get("/api/v2/search", params={"q": f"#{word}", "type": "hashtags", "offset": 3, "limit": 1})
    assert [tag["name"] for tag in answer["hashtags"]] == expected[3:4]


async def test_ids_move_along_a_search_only_where_one_kind_is_asked_for(town: Town) -> None:
    ada = await join(town)
    word = f"moves{ada.id}"
    said = [(await post(ada, f"{word} {number}"))["id"] for number in range(3)]
    await settle(town)
    for params in ({"max_id": said[1]}, {"min_id": said[1]}):
        every = await ada.get("/api/v2/search", params={"q": word, **params})
        assert [one["id"] for one in every["statuses"]] == said[::-1]
    assert await ids(ada, "/api/v1/timelines/home", max_id=said[1]) == said[:1]


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("/auth/sign_in", "/flows/-/default/authentication/"),
        ("/auth/sign_up", "/flows/-/default/enrollment/"),
        ("/auth/sign_out", "/flows/-/default/invalidation/"),
        ("/auth/edit", "/settings/security"),
        ("/.well-known/change-password", "/settings/security"),
    ],
)
async def test_known_addresses_lead_to_the_nearest_page(town: Town, path: str, to: str) -> None:
    answer = await town.http.get(path, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (302, to)
    reached = await town.http.get(path, follow_redirects=True)
    assert reached.status_code == 200, reached.text
    assert "text/html" in reached.headers["content-type"]


async def test_whoever_forgot_their_password_is_led_to_a_page(town: Town) -> None:
    reached = await town.http.get("/auth/password/new", follow_redirects=True)
    assert reached.status_code == 200
    assert reached.url.path.startswith("/flows/")
