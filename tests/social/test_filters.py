"""Filters, in both versions of their API."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.social.filters.matching import Filters, FoldedText
from kith.social.filters.tables import Filter, FilteredStatus, Keyword
from kith.social.ids import AccountId, StatusId
from tests.social.members import Member, join_all
from tests.social.posts import arrive, post
from tests.social.samples import image_file
from tests.social.shapes import check, entity
from tests.town import Town

V1, V2 = "/api/v1/filters", "/api/v2/filters"
KEYWORD = entity("FilterKeyword")
STATUS = entity("FilterStatus")
FILTER = entity("Filter")
PHRASE = entity("V1Filter")


async def new_filter(member: Member, *words: str, **sent: Any) -> dict[str, Any]:
    body = {"title": "Quiet", "context": ["home"], "keywords_attributes": [{"keyword": word} for word in words]}
    made: dict[str, Any] = await member.post(V2, json=body | sent)
    check(made, FILTER)
    return made


async def refusal(member: Member, method: str, path: str, sent: dict[str, Any]) -> tuple[int, str]:
    answer = await member.call(method, path, json=sent)
    return answer.status_code, answer.json()["error"]


async def test_a_filter_is_made_read_changed_and_deleted(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    form = {
        "title": " Spoilers ",
        "context[]": ["home", "thread", "home"],
        "filter_action": "hide",
        "expires_in": "3600",
        "keywords_attributes[][keyword]": "dragon",
        "keywords_attributes[][whole_word]": "true",
    }
    made = await ada.post(V2, data=form)
    check(made, FILTER)
    assert (made["title"], made["context"], made["filter_action"]) == ("Spoilers", ["home", "thread"], "hide")
    assert made["expires_at"] is not None
    [keyword] = made["keywords"]
    assert (keyword["keyword"], keyword["whole_word"]) == ("dragon", True)
    path = f"{V2}/{made['id']}"
    assert await ada.get(path) == made
    assert await ada.get(V2) == [made]

    changed = await ada.does(
        "PUT",
        path,
        json={"title": "Less", "keywords_attributes": [{"keyword": "castle"}, keyword | {"_destroy": True}]},
    )
    assert (changed["title"], changed["expires_at"]) == ("Less", made["expires_at"])
    assert [one["keyword"] for one in changed["keywords"]] == ["castle"]
    assert (await ada.does("PUT", path, json={"expires_in": ""}))["expires_at"] is None
    for method in ("GET", "PUT", "DELETE"):
        assert (await bob.call(method, path, json={})).status_code == 404
    assert await ada.delete(path) == {}
    assert await ada.get(V2) == []


async def test_keywords_and_statuses_of_a_filter_have_addresses_of_their_own(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    made = await new_filter(ada, "one")
    keyword = await ada.post(f"{V2}/{made['id']}/keywords", json={"keyword": "two", "whole_word": True})
    check(keyword, KEYWORD)
    path = f"{V2}/keywords/{keyword['id']}"
    assert await ada.get(path) == keyword
    assert (await ada.does("PUT", path, json={"keyword": "three"})) == keyword | {"keyword": "three"}
    assert [one["keyword"] for one in await ada.get(f"{V2}/{made['id']}/keywords")] == ["one", "three"]
    assert await refusal(ada, "POST", f"{V2}/{made['id']}/keywords", {}) == (
        422,
        "Validation failed: Keyword can't be blank",
    )
    assert (await bob.call("DELETE", path)).status_code == 404
    assert await ada.delete(path) == {}

    seen, secret = await post(bob, "hello"), await post(bob, "hush", visibility="direct")
    listed = await ada.post(f"{V2}/{made['id']}/statuses", json={"status_id": seen["id"]})
    check(listed, STATUS)
    again = await refusal(ada, "POST", f"{V2}/{made['id']}/statuses", {"status_id": seen["id"]})
    assert again == (422, "Duplicate record")
    hidden = await refusal(ada, "POST", f"{V2}/{made['id']}/statuses", {"status_id": secret["id"]})
    assert hidden == (404, "Record not found")
    assert await ada.get(f"{V2}/{made['id']}/statuses") == [listed]
    assert await ada.get(f"{V2}/statuses/{listed['id']}") == listed
    assert (await bob.call("DELETE", f"{V2}/statuses/{listed['id']}")).status_code == 404
    assert await ada.delete(f"{V2}/statuses/{listed['id']}") == {}
    assert (await ada.get(f"{V2}/{made['id']}"))["statuses"] == []


async def test_what_cannot_be_is_refused(town: Town) -> None:
    [ada] = await join_all(town, 1)
    context = "Context can't be blank, Context None or invalid context supplied"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"context": ["home"]}, "Title can't be blank"),
        ({"title": "x"}, context),
        ({"title": "x", "context": ["nowhere"]}, "Context None or invalid context supplied"),
        ({"title": "x" * 257, "context": ["home"]}, "Title is too long (maximum is 256 characters)"),
        ({"title": "x", "context": ["home"], "filter_action": "burn"}, "Action is not included in the list"),
        ({"title": "x", "context": ["home"], "keywords_attributes": [{}]}, "Keyword can't be blank"),
        (
            {"title": "x", "context": ["home"], "keywords_attributes": [{"keyword": "x" * 513}]},
            "Keyword is too long (maximum is 512 characters)",
        ),
    ]
    for sent, words in cases:
        assert await refusal(ada, "POST", V2, sent) == (422, f"Validation failed: {words}")
    assert await refusal(ada, "POST", V1, {"context": ["home"]}) == (422, "Validation failed: Phrase can't be blank")
    assert await refusal(ada, "POST", V1, {"phrase": "x"}) == (422, f"Validation failed: {context}")
    assert await ada.get(V2) == []


async def test_the_number_of_filters_and_keywords_is_limited(town: Town) -> None:
    [ada] = await join_all(town, 1)
    words = [{"keyword": f"word {number}"} for number in range(501)]
    assert await refusal(ada, "POST", V2, {"title": "x", "context": ["home"], "keywords_attributes": words}) == (
        422,
        "Validation failed: You have reached the maximum number of filter keywords",
    )
    made = await new_filter(ada, "one")
    again = [{"id": made["keywords"][0]["id"], "keyword": f"word {number}"} for number in range(501)]
    assert await refusal(ada, "PUT", f"{V2}/{made['id']}", {"keywords_attributes": again}) == (
        422,
        "Validation failed: You have reached the maximum number of filter keywords",
    )
    for _ in range(99):
        await new_filter(ada)
    assert await refusal(ada, "POST", V2, {"title": "x", "context": ["home"]}) == (
        422,
        "Validation failed: You have reached the maximum number of filters",
    )


async def test_a_filter_of_version_1_is_a_keyword_of_version_2(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    sent = {"phrase": "dragon", "context[]": ["home", "public"], "irreversible": "true", "whole_word": "1"}
    made = await ada.post(V1, data=sent)
    check(made, PHRASE)
    assert (made["irreversible"], made["whole_word"], made["expires_at"]) == (True, True, None)
    assert await ada.get(V1) == [made]
    [whole] = await ada.get(V2)
    assert (whole["title"], whole["filter_action"], whole["keywords"][0]["id"]) == ("dragon", "hide", made["id"])
    path = f"{V1}/{made['id']}"
    changed = await ada.does("PUT", path, json={"phrase": "knight", "context": ["home"], "expires_in": 60})
    assert (changed["phrase"], changed["context"], changed["irreversible"]) == ("knight", ["home"], True)
    assert changed["whole_word"]
    assert changed["expires_at"] is not None
    assert (await ada.get(V2))[0]["title"] == "knight", "its only name"
    other = {"phrase": "squire", "context": ["home"], "irreversible": False, "whole_word": False}
    again = await ada.does("PUT", path, json=other)
    assert again == made | other | {"expires_at": changed["expires_at"]}
    assert (await ada.does("PUT", path, json={"expires_in": ""})) == again | {"expires_at": None}
    assert await refusal(ada, "PUT", path, {"phrase": " "}) == (422, "Validation failed: Phrase can't be blank")
    for method in ("GET", "PUT", "DELETE"):
        assert (await bob.call(method, path)).status_code == 404
    assert (await ada.call("GET", path)).headers["deprecation"] == "@1668384000"

    await ada.post(f"{V2}/{whole['id']}/keywords", json={"keyword": "second"})
    status, words = await refusal(ada, "PUT", path, {"phrase": "squire", "context": ["thread"]})
    assert status == 422
    assert (await ada.does("PUT", path, json={"phrase": "page", "context": ["home"]}))["phrase"] == "page"
    assert (await ada.get(V2))[0]["title"] == "squire"
    assert words.startswith("These parameters cannot be changed from this application")
    assert await ada.delete(path) == {}
    assert [one["phrase"] for one in await ada.get(V1)] == ["second"]
    assert await ada.delete(f"{V1}/{(await ada.get(V1))[0]['id']}") == {}
    assert await ada.get(V2) == []


RESULT = entity("FilterResult")


def results(status: dict[str, Any]) -> list[list[str] | None]:
    """The words by which filters matched."""
    check(status["filtered"], [RESULT])
    return [one["keyword_matches"] for one in status["filtered"]]


async def ids_at(member: Member, path: str, **query: Any) -> list[str]:
    return [one["id"] for one in await member.get(path, params=query)]


async def test_every_endpoint_tells_which_filters_match(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await ada.to(bob, "follow")
    made = await new_filter(ada, "dragon", context=["public"])
    seen = await post(bob, f"@{ada.name} a DRAGON #tales")
    reply = await post(bob, "more dragons", in_reply_to_id=seen["id"])
    await arrive(ada, bob)
    for verb in ("favourite", "bookmark"):
        await ada.post(f"/api/v1/statuses/{seen['id']}/{verb}")
    paths = [
        "/api/v1/timelines/home",
        "/api/v1/timelines/public",
        "/api/v1/timelines/tag/tales",
        f"/api/v1/accounts/{bob.id}/statuses",
        "/api/v1/favourites",
        "/api/v1/bookmarks",
    ]
    for path in paths:
        shown = {one["id"]: one for one in await ada.get(path)}
        assert results(shown[seen["id"]]) == [["DRAGON"]], path
    assert results(await ada.get(f"/api/v1/statuses/{seen['id']}")) == [["DRAGON"]]
    thread = await ada.get(f"/api/v1/statuses/{seen['id']}/context")
    assert results(thread["descendants"][0]) == [["dragon"]]
    assert reply["id"] == thread["descendants"][0]["id"]
    [told] = [one for one in await ada.get("/api/v1/notifications") if one["type"] == "mention"]
    assert results(told["status"]) == [["DRAGON"]]
    boost = await ada.post(f"/api/v1/statuses/{seen['id']}/reblog")
    assert results(boost) == results(boost["reblog"]) == [["DRAGON"]]
    assert (await bob.get(f"/api/v1/statuses/{seen['id']}"))["filtered"] == []
    assert "filtered" not in (await town.http.get(f"/api/v1/statuses/{seen['id']}")).json()

    await ada.delete(f"{V2}/{made['id']}")
    assert (await ada.get(f"/api/v1/statuses/{seen['id']}"))["filtered"] == []


async def test_what_a_filter_hides_the_server_leaves_out(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await ada.to(bob, "follow")
    listed = await ada.post("/api/v1/lists", json={"title": "all"})
    await ada.post(f"/api/v1/lists/{listed['id']}/accounts", json={"account_ids": [bob.id]})
    loud, quiet = await post(bob, f"@{ada.name} dragon"), await post(bob, f"@{ada.name} tea")
    own = await post(ada, "my dragon")
    await arrive(ada, bob)
    everywhere = {
        "/api/v1/timelines/home": [own["id"], quiet["id"], loud["id"]],
        f"/api/v1/timelines/list/{listed['id']}": [quiet["id"], loud["id"]],
    }
    for path, expected in everywhere.items():
        assert await ids_at(ada, path) == expected
    made = await ada.post(V1, json={"phrase": "dragon", "context": ["home", "notifications"], "irreversible": True})

    for _ in range(2):  # the second time from what is kept
        for path, expected in everywhere.items():
            assert await ids_at(ada, path) == [id for id in expected if id != loud["id"]]
        mentions = await ada.get("/api/v1/notifications", params={"types[]": "mention"})
        assert [one["status"]["id"] for one in mentions] == [quiet["id"]]
    assert loud["id"] in await ids_at(ada, f"/api/v1/accounts/{bob.id}/statuses")

    await ada.delete(f"{V1}/{made['id']}")
    assert await ids_at(ada, "/api/v1/timelines/home") == everywhere["/api/v1/timelines/home"]


async def test_filters_follow_edits_and_their_own_end(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    status = await post(bob, "tea", media_ids=[])
    path = f"/api/v1/statuses/{status['id']}"
    await new_filter(ada, "dragon")
    assert (await ada.get(path))["filtered"] == []
    await bob.does("PUT", path, json={"status": "tea", "spoiler_text": "dragons"})
    assert results(await ada.get(path)) == [["dragon"]]
    gone = await new_filter(ada, "tea", expires_in=0)
    assert results(await ada.get(path)) == [["dragon"]]
    await ada.does("PUT", f"{V2}/{gone['id']}", json={"expires_in": ""})
    assert results(await ada.get(path)) == [["dragon"], ["tea"]]
    await ada.post(f"{V2}/{gone['id']}/statuses", json={"status_id": status["id"]})
    [_, by_id] = (await ada.get(path))["filtered"]
    assert (by_id["keyword_matches"], by_id["status_matches"]) == (["tea"], [status["id"]])


async def test_letters_with_marks_are_found_however_they_are_put_together(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    made = await new_filter(ada, "cafe\u0301")
    assert made["keywords"][0]["keyword"] == "caf\u00e9"
    picture = await bob.post(
        "/api/v2/media", files={"file": ("a.png", image_file("PNG"), "image/png")}, data={"description": "CAFE\u0301"}
    )
    for status in (await post(bob, "un cafe\u0301"), await post(bob, "look", media_ids=[picture["id"]])):
        [found] = (await ada.get(f"/api/v1/statuses/{status['id']}"))["filtered"]
        assert found["keyword_matches"][0].lower() == "caf\u00e9"


async def test_options_of_polls_and_descriptions_of_media_are_looked_at(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await new_filter(ada, "dragon")
    poll = await post(bob, "which?", poll={"options": ["Dragon", "tea"], "expires_in": 3600})
    picture = await bob.post(
        "/api/v2/media", files={"file": ("a.png", image_file("PNG"), "image/png")}, data={"description": "dragon!"}
    )
    shown = await post(bob, "look", media_ids=[picture["id"]])
    for status, word in ((poll, "Dragon"), (shown, "dragon")):
        assert results(await ada.get(f"/api/v1/statuses/{status['id']}")) == [[word]]


FOUND: list[tuple[str, bool, str, str | None]] = [
    ("dragon", False, "Dragons everywhere", "Dragon"),
    ("dragon", True, "Dragons everywhere", None),
    ("dragon", True, "A DRAGON!", "DRAGON"),
    ("dragon", True, "snapdragon", None),
    ("dragon", True, "snapdragon and dragon", "dragon"),
    ("cat", True, f"{'concatenate ' * 50}a cat", "cat"),
    ("#tag", True, "some#tag here", "#tag"),
    ("#tag", True, "#tagged", None),
    ("c++", True, "I like C++11", "C++"),
    ("straße", True, "die STRASSE entlang", "STRASSE"),
    ("день", True, "сегодня день!", "день"),
    ("день", True, "деньги", None),
    ("हिन्द", True, "हिन्दी", None),
    ("हिन्दी", True, "मैं हिन्दी बोलता", "हिन्दी"),
    ("ναι", True, "ΝΑΙ, ευχαριστώ", "ΝΑΙ"),
    ("שלום", True, "שלום עולם", "שלום"),
    ("東京", False, "今日は東京です", "東京"),
    ("東京", True, "今日は東京です", "東京"),
    ("猫", True, "小猫咪", "猫"),
    ("カメラ", True, "新しいカメラを買う", "カメラ"),
    ("カメ", True, "カメラ", None),
    ("แมว", True, "ฉันรักแมวมาก", "แมว"),
    ("ก", True, "ก่อน", None),
    ("고양이", True, "고양이 사진", "고양이"),
    ("고양이", True, "고양이가", None),
    ("سلام", True, "سلام عليكم", "سلام"),
    ("سلام", True, "إسلام", None),
    ("🐱", True, "see🐱here", "🐱"),
    ("cat🐱", True, "bobcat🐱", None),
    ("naïve", True, "NAÏVE!", "NAÏVE"),
    ("x_y", True, "x_y_z", None),
    ("x", True, "日本x語", "x"),
    ("two words", False, "say TWO WORDS now", "TWO WORDS"),
    (".*", False, "anything", None),
    ("(a+)+$", False, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", None),
]


def compiled(*words: tuple[str, bool], status_ids: tuple[int, ...] = ()) -> Filters:
    one = Filter(id=1, account_id=AccountId(1), title="x", context="home", action="warn", expires_at=None)
    return Filters(
        [one],
        [Keyword(id=n, filter_id=1, keyword=word, whole_word=whole) for n, (word, whole) in enumerate(words)],
        [FilteredStatus(id=n, filter_id=1, status_id=StatusId(id)) for n, id in enumerate(status_ids)],
    )


@pytest.mark.parametrize(("word", "whole", "text", "found"), FOUND)
def test_keywords_are_found_in_every_script(word: str, whole: bool, text: str, found: str | None) -> None:
    matches = compiled((word, whole)).match(text, ())
    assert [match.keywords for match in matches] == ([(found,)] if found is not None else [])


def test_statuses_are_found_by_their_ids() -> None:
    [match] = compiled(status_ids=(7,)).match("", (StatusId(5), StatusId(7)))
    assert (match.keywords, match.status_ids) == ((), (StatusId(7),))
    assert compiled(status_ids=(7,)).match("", (StatusId(5),)) == ()


@given(st.text(min_size=1, max_size=8), st.text(max_size=40), st.text(max_size=40))
def test_a_keyword_with_nothing_beside_it_is_always_found(word: str, before: str, after: str) -> None:
    assert compiled((word, False)).match(before + word + after, ())
    assert compiled((word, True)).match(f"{before} {word} {after}", ())


_few = st.text(alphabet="abAßẞ _é", min_size=1, max_size=7)


@given(st.lists(st.tuples(_few, st.booleans()), max_size=6), st.text(alphabet="abAßẞ _é", max_size=30))
def test_the_quick_look_finds_a_match_where_there_is_one(words: list[tuple[str, bool]], text: str) -> None:
    filters = compiled(*words, status_ids=(7,))
    for id in (StatusId(5), StatusId(7)):
        assert filters.touches(FoldedText(text), id) == bool(filters.match(text, (id,)))
