"""Profiles: what others see of somebody, and what somebody may change of it."""

from __future__ import annotations

import io
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from PIL import Image

from kith.base.db import command, insert_into
from kith.social.accounts.pictures import PROFILE_PICTURES
from kith.social.accounts.tables import Account
from kith.social.emojis.tables import emojis
from kith.social.ids import StatusId
from kith.social.statuses import polls
from kith.social.statuses.tables import Poll
from kith.social.webpages.owners import own_links
from tests.conftest import TownBuilder
from tests.social.members import join, join_all, set_state, stranger, until
from tests.social.posts import post, said_elsewhere
from tests.social.samples import gif, image_file
from tests.social.shapes import ACCOUNT, CREDENTIAL_ACCOUNT, PREFERENCES, PROFILE, check, differences
from tests.town import Town

UPDATE = "/api/v1/accounts/update_credentials"


async def test_ones_own_account_and_what_others_see(town: Town) -> None:
    ada = await join(town)
    check(ada.me, CREDENTIAL_ACCOUNT)
    assert ada.me["source"] == {
        "note": "",
        "fields": [],
        "privacy": "public",
        "sensitive": False,
        "language": None,
        "follow_requests_count": 0,
        "hide_collections": None,
        "discoverable": None,
        "indexable": False,
        "attribution_domains": [],
        "also_known_as_uris": [],
        "quote_policy": "public",
    }

    answer = await town.http.get(f"/api/v1/accounts/{ada.id}")
    check(answer.json(), ACCOUNT)
    assert answer.json() == {name: value for name, value in ada.me.items() if name not in ("source", "role")}
    for path in (f"/api/v1/accounts/{ada.id}", f"/api/v1/accounts/{ada.id}/featured_tags", "/api/v1/tags/some"):
        kept = (await town.http.get(path)).headers
        assert kept["cache-control"].startswith("public, max-age=15"), path
        assert kept["vary"] == "Authorization", path
        assert (await ada.call("GET", path)).headers["cache-control"] == "private, no-store", path
    for name in ("avatar", "header"):
        picture = await town.http.get(ada.me[name])
        assert picture.status_code == 200
        assert Image.open(io.BytesIO(picture.content)).format == "PNG"


def test_shapes_find_what_differs() -> None:
    shape = {"id": "id", "at?": "moment", "all": [{"is": "bool"}]}
    assert differences({"id": "1", "all": [{"is": True}]}, shape) == []
    wrong: dict[str, Any] = {"id": 1, "at": "2026-01-01", "all": [{"is": None}, {}], "more": 1}
    assert len(differences(wrong, shape)) == 5


# Changing


async def test_everything_can_be_changed_in_every_encoding(town: Town) -> None:
    ada = await join(town)
    plain = {
        "display_name": "Ada  Lovelace ",
        "note": "Line one\n\nLine *two*",
        "locked": True,
        "bot": True,
        "discoverable": True,
        "indexable": True,
        "hide_collections": True,
        "avatar_description": " a face ",
        "header_description": "hills",
        "attribution_domains": ["Example.COM", "*.news.example"],
        "fields_attributes": [{"name": "Site", "value": "my words"}, {"name": "", "value": " "}],
        "source": {"privacy": "unlisted", "sensitive": True, "language": "de", "quote_policy": "followers"},
    }
    form = {
        "display_name": "Ada Lovelace",
        "note": "Line one\r\n\r\nLine *two*",
        "locked": "1",
        "bot": "on",
        "discoverable": "true",
        "indexable": "t",
        "hide_collections": "TRUE",
        "avatar_description": "a face",
        "header_description": "hills",
        "attribution_domains[]": ["example.com", "news.example"],
        "fields_attributes[0][name]": "Site",
        "fields_attributes[0][value]": "my words",
        "fields_attributes[1][name]": "",
        "fields_attributes[1][value]": "",
        "source[privacy]": "unlisted",
        "source[sensitive]": "true",
        "source[language]": "de",
        "source[quote_policy]": "followers",
    }
    bodies: list[dict[str, Any]] = [{"json": plain}, {"data": form}, {"data": form, "files": {"nothing": b""}}]
    for sent in bodies:
        shown = await ada.patch(UPDATE, **sent)
        check(shown, CREDENTIAL_ACCOUNT)
        assert shown["display_name"] == "Ada Lovelace"
        assert shown["note"] == "<p>Line one</p><p>Line *two*</p>"
        assert (shown["avatar_description"], shown["header_description"]) == ("a face", "hills")
        assert [shown[name] for name in ("locked", "bot", "discoverable", "indexable", "hide_collections")] == [
            True
        ] * 5
        assert shown["fields"] == [{"name": "Site", "value": "my words", "verified_at": None}]
        assert shown["source"] == {
            "note": "Line one\n\nLine *two*",
            "fields": shown["fields"],
            "privacy": "unlisted",
            "sensitive": True,
            "language": "de",
            "follow_requests_count": 0,
            "hide_collections": True,
            "discoverable": True,
            "indexable": True,
            "attribution_domains": ["example.com", "news.example"],
            "also_known_as_uris": [],
            "quote_policy": "followers",
        }
        blank = dict.fromkeys(("display_name", "note", "avatar_description", "header_description"), "")
        off = dict.fromkeys(("locked", "bot", "discoverable", "indexable", "hide_collections"), False)
        source = {"privacy": "public", "sensitive": False, "language": "", "quote_policy": "public"}
        emptied = await ada.patch(
            UPDATE, json=blank | off | {"fields_attributes": [], "attribution_domains": [], "source": source}
        )
        assert emptied["source"]["language"] is None
        assert (emptied["note"], emptied["fields"], emptied["bot"]) == ("", [], False)
    assert (await town.http.get(f"/api/v1/accounts/{ada.id}")).json()["display_name"] == ""


async def test_an_empty_source_is_no_error(town: Town) -> None:
    ada = await join(town)
    bodies: list[dict[str, Any]] = [
        {"json": {"source": {}}},
        {"json": {"source": None}},
        {"json": {"source": []}},
        {"json": {"source": ""}},
        {"data": {"source": ""}},
        {"data": {"source[]": ""}},
        {"json": {}},
        {},
    ]
    for sent in bodies:
        shown = await ada.patch(UPDATE, **sent)
        assert shown["source"] == ada.me["source"]


async def test_what_is_refused_is_told_field_by_field(town: Town) -> None:
    ada = await join(town)
    row = {"name": "n", "value": "v"}
    cases: list[tuple[dict[str, Any], str, str, str]] = [
        ({"display_name": "x" * 41}, "display_name", "ERR_TOO_LONG", "Display name is too long (maximum is 40 characters)"),
        ({"note": "x" * 501}, "note", "ERR_TOO_LONG", "Note is too long (maximum is 500 characters)"),
        ({"avatar_description": "x" * 151}, "avatar_description", "ERR_TOO_LONG",
         "Avatar description is too long (maximum is 150 characters)"),
        ({"fields_attributes": [row] * 5}, "fields", "ERR_TOO_MANY", "Fields has too many rows (maximum is 4)"),
        ({"fields_attributes": [{"name": "x" * 256, "value": ""}]}, "fields", "ERR_TOO_LONG",
         "Fields is too long (maximum is 255 characters)"),
        ({"fields_attributes": [{"name": "", "value": "v"}]}, "fields", "ERR_BLANK",
         "Fields contains values without a label"),
        ({"attribution_domains": ["not a domain"]}, "attribution_domains", "ERR_INVALID",
         "Attribution domains is not a valid domain name"),
        ({"attribution_domains": [f"a{n}.example" for n in range(101)]}, "attribution_domains", "ERR_TOO_MANY",
         "Attribution domains has too many entries (maximum is 100)"),
        ({"source": {"privacy": "secret"}}, "privacy", "ERR_INCLUSION", "Privacy is not included in the list"),
        ({"source": {"language": "klingon"}}, "language", "ERR_INCLUSION", "Language is not a language we know"),
        ({"source": {"quote_policy": "x"}}, "quote_policy", "ERR_INCLUSION", "Quote policy is not included in the list"),
        ({"locked": "perhaps"}, "locked", "ERR_INVALID", "Locked is not true or false"),
        ({"avatar": "words"}, "avatar", "ERR_INVALID", "Avatar is not a file"),
    ]  # fmt: skip
    for sent, field, code, words in cases:
        answer = await ada.call("PATCH", UPDATE, json=sent | {"bot": True} if field != "locked" else sent)
        assert answer.status_code == 422, sent
        assert answer.json()["error"] == f"Validation failed: {words}"
        assert [one["error"] for one in answer.json()["details"][field]] == [code]
    assert (await ada.refreshed())["bot"] is False  # nothing of what was refused is kept
    # A link counts as 23 characters, whatever its length, and of a mention only the name counts.
    long = f"https://example.com/{'x' * 600} @someone@{'y' * 60}.example "
    await ada.patch(UPDATE, json={"note": long + "z" * (500 - 23 - 1 - 8 - 1)})


async def test_words_become_links(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    far = await stranger(town)
    host = town.base_url.removeprefix("http://")
    note = f"<b>I</b> am @{bob.name}'s & @{far.username}@{far.domain} & @nobody_here #Cats https://example.com/x"
    shown = await ada.patch(
        UPDATE,
        json={
            "note": note,
            "fields_attributes": {
                "0": {"name": "Me", "value": "https://example.com/me"},
                "1": {"name": "Friend", "value": f"@{bob.name}@{host}"},
            },
        },
    )

    assert "&lt;b&gt;I&lt;/b&gt; am" in shown["note"]
    assert f'href="{bob.me["url"]}" class="u-url mention"' in shown["note"]
    assert f'href="{far.url}" class="u-url mention"' in shown["note"]
    assert "@nobody_here" in shown["note"]
    assert f'href="{town.base_url}/tags/cats" class="mention hashtag" rel="tag"' in shown["note"]
    own, friend = (field["value"] for field in shown["fields"])
    assert own.startswith('<a href="https://example.com/me" target="_blank" rel="nofollow noopener me"')
    assert f'href="{bob.me["url"]}"' in friend
    assert [field["value"] for field in shown["source"]["fields"]] == ["https://example.com/me", f"@{bob.name}@{host}"]


async def test_emoji_are_told_with_the_words_they_are_in(town: Town) -> None:
    ada = await join(town)
    code = f"blob_{ada.name}"
    far = await stranger(town, display_name=f"Far :{code}:")
    async with town.house() as house, house.works.begin() as work:
        for domain in ("", far.domain):
            await work.db.run(
                command(insert_into(emojis)),
                id=work.new_id(),
                shortcode=code,
                domain=domain,
                static_file="",
                file=f"emojis/{domain or 'here'}.png",
                category=None,
                visible_in_picker=True,
                disabled=False,
                uri=None,
                updated_at=work.now,
            )
    await ada.patch(UPDATE, json={"display_name": f":{code}:", "note": f":none_such: :{code}:"})

    many = await town.http.get("/api/v1/accounts", params={"id[]": [ada.id, far.id]})

    check(many.json(), [ACCOUNT])
    told = {one["id"]: [emoji["url"] for emoji in one["emojis"]] for one in many.json()}
    assert told == {
        ada.id: [f"{town.base_url}/media/emojis/here.png"],
        str(far.id): [f"{town.base_url}/media/emojis/{far.domain}.png"],
    }

    # when
    asked = {
        "here.png": (await post(ada, "well?", poll={"options": [f":{code}:", "b"], "expires_in": 600}))["id"],
        f"{far.domain}.png": await _polled(town, far, [f":{code}:", ":none_such:"]),
    }

    # then
    for file, id in asked.items():
        poll = (await town.http.get(f"/api/v1/statuses/{id}")).json()["poll"]
        alone = (await town.http.get(f"/api/v1/polls/{poll['id']}")).json()
        assert [emoji["url"] for emoji in poll["emojis"]] == [f"{town.base_url}/media/emojis/{file}"]
        assert alone == poll


async def test_of_very_many_emoji_a_profile_tells_some_and_a_post_twice_as_many(town: Town) -> None:
    domain = "picturesque.example"
    codes = [f"many_{number}" for number in range(300)]
    text = " ".join(f":{code}:" for code in codes)
    far = await stranger(town, domain, note_html=text)
    async with town.house() as house, house.works.begin() as work:
        rows = [{"id": work.new_id(), "shortcode": code, "domain": domain, "file": "https://picturesque.example/1.png",
                 "static_file": "", "category": None, "visible_in_picker": True, "disabled": False, "uri": None,
                 "updated_at": work.now} for code in codes]  # fmt: skip
        await work.db.many(command(insert_into(emojis)), rows)
    said = await said_elsewhere(town, far, content=text)

    profile = (await town.http.get(f"/api/v1/accounts/{far.id}")).json()
    status = (await town.http.get(f"/api/v1/statuses/{said}")).json()

    assert [one["shortcode"] for one in profile["emojis"]] == codes[:50]
    assert [one["shortcode"] for one in status["emojis"]] == codes[:100]


async def _polled(town: Town, author: Account, options: list[str]) -> str:
    """A post from elsewhere that asks something; its id."""
    async with town.house() as house, house.works.begin() as work:
        poll_id = work.new_id()
    status_id = await said_elsewhere(town, author, poll_id=poll_id)
    async with town.house() as house, house.works.begin() as work:
        poll = Poll(
            id=poll_id,
            status_id=StatusId(int(status_id)),
            account_id=author.id,
            options=options,
            tallies=[0] * len(options),
            voters_count=0,
            multiple=False,
            hide_totals=False,
            expires_at=None,
            ended_at=None,
            fetched_at=work.now,
        )
        await polls.insert(work.db, poll)
    return status_id


# Pictures


async def test_pictures_are_cut_to_size_replaced_and_taken_away(town: Town) -> None:
    ada = await join(town)
    first = await ada.patch(
        UPDATE,
        files={
            "avatar": ("me.png", image_file("PNG", (900, 500)), "image/png"),
            "header": ("hills.jpg", image_file("JPEG", (3000, 1000)), "image/jpeg"),
        },
        data={"avatar_description": "me"},
    )
    check(first, CREDENTIAL_ACCOUNT)
    assert first["avatar"] == first["avatar_static"]
    sizes = {
        name: Image.open(io.BytesIO((await town.http.get(first[name])).content)).size for name in ("avatar", "header")
    }
    assert sizes["avatar"] == (400, 400)
    assert sizes["header"] == (1500, 500)

    second = await ada.patch(UPDATE, files={"avatar": ("dance.gif", gif(), "image/gif")})
    assert second["avatar"] != first["avatar"]
    assert second["avatar_static"] != second["avatar"]
    assert (second["header"], second["avatar_description"]) == (first["header"], "me")
    await until(lambda: _is_gone(town, first["avatar"]))

    for _ in range(2):
        bare = await ada.delete("/api/v1/profile/avatar")
        check(bare, CREDENTIAL_ACCOUNT)
        assert bare["avatar"] == f"{town.base_url}/avatars/original/missing.png"
        assert (bare["avatar_description"], bare["header"]) == ("", first["header"])
    assert (await ada.delete("/api/v1/profile/header"))["header"] == f"{town.base_url}/headers/original/missing.png"
    await until(lambda: _is_gone(town, second["avatar_static"]))
    await until(lambda: _is_gone(town, first["header"]))


async def _is_gone(town: Town, url: str) -> bool:
    return (await town.http.get(url)).status_code == 404


async def test_what_is_no_picture_changes_nothing(town: Town) -> None:
    ada = await join(town)
    for content in (b"<svg/>", b"", image_file("PNG")[:60]):
        answer = await ada.call(
            "PATCH", UPDATE, files={"avatar": ("me.png", content, "image/png")}, data={"display_name": "New"}
        )
        assert answer.status_code == 422
        assert answer.json()["details"]["avatar"][0]["error"] == "ERR_INVALID"
    assert (await ada.refreshed())["display_name"] == ada.me["display_name"] != "New"


# The editing view, and preferences


async def test_the_editing_view_of_a_profile(town: Town) -> None:
    ada = await join(town)
    before = await ada.get("/api/v1/profile")
    check(before, PROFILE)
    assert (before["avatar"], before["header"], before["featured_tags"]) == (None, None, [])
    changed = {
        "note": "#here",
        "show_media": False,
        "show_media_replies": False,
        "show_featured": False,
        "locked": True,
        "fields_attributes": [{"name": "a", "value": "https://example.com"}],
    }
    after = await ada.patch("/api/v1/profile", json=changed)
    check(after, PROFILE)
    assert after["note"] == "#here"
    assert 'class="mention hashtag"' in after["formatted_note"]
    assert after["fields"][0]["value"] == "https://example.com"
    assert 'rel="nofollow noopener me"' in after["formatted_fields"][0]["value"]
    assert [after[name] for name in ("show_media", "show_media_replies", "show_featured")] == [False] * 3
    assert (await town.http.get(f"/api/v1/accounts/{ada.id}")).json()["show_media"] is False
    assert (await ada.call("PATCH", "/api/v1/profile", json={"note": "x" * 501})).status_code == 422


async def test_preferences_follow_the_settings(town: Town) -> None:
    ada = await join(town)
    before = await ada.get("/api/v1/preferences")
    check(before, PREFERENCES)
    assert (before["posting:default:visibility"], before["posting:default:language"]) == ("public", None)
    await ada.patch(UPDATE, json={"locked": True, "source": {"language": "fr", "sensitive": True}})
    after = await ada.get("/api/v1/preferences")
    assert after["posting:default:visibility"] == "private"  # as whoever approves followers means it
    assert (after["posting:default:language"], after["posting:default:sensitive"]) == ("fr", True)


async def test_preferences_are_changed_under_the_names_they_are_read_by(town: Town) -> None:
    ada = await join(town)
    wanted = {
        "posting:default:visibility": "unlisted",
        "posting:default:sensitive": True,
        "posting:default:language": "de",
        "posting:default:quote_policy": "followers",
        "reading:expand:media": "show_all",
        "reading:expand:spoilers": True,
        "reading:autoplay:gifs": True,
        "reading:languages": ["de", "en"],
    }

    changed = await ada.patch("/api/v1/preferences", json=wanted)

    check(changed, PREFERENCES)
    assert changed == wanted == await ada.get("/api/v1/preferences")
    by_form = {"source[expand_media]": "hide_all", "reading:languages[]": "", "reading:expand:spoilers": "false"}
    changed = await ada.patch("/api/v1/preferences", data=by_form)
    assert changed == wanted | {
        "reading:expand:media": "hide_all",
        "reading:languages": None,
        "reading:expand:spoilers": False,
    }
    await ada.patch(UPDATE, json={"source": {"chosen_languages": ["fr"], "autoplay_gifs": False}})
    changed = await ada.get("/api/v1/preferences")
    assert (changed["reading:languages"], changed["reading:autoplay:gifs"]) == (["fr"], False)


@pytest.mark.parametrize(
    "sent",
    [
        {"posting:default:visibility": "everybody"},
        {"reading:expand:media": "some"},
        {"reading:languages": ["xx-nope"]},
        {"posting:default:language": "klingon"},
        {"source": {"chosen_languages": ["?"]}},
        {"reading:languages": [f"en-{one}{two}" for one in "ABCDEFGHIJKLMNO" for two in "ABCDEFGHIJKLMNO"]},
    ],
)
async def test_preferences_that_cannot_be_change_nothing(town: Town, sent: dict[str, Any]) -> None:
    ada = await join(town)
    before = await ada.get("/api/v1/preferences")

    answer = await ada.call("PATCH", "/api/v1/preferences", json={"reading:autoplay:gifs": True} | sent)

    assert answer.status_code == 422
    assert await ada.get("/api/v1/preferences") == before


# Finding


async def test_accounts_are_found_by_name_and_by_id(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    far = await stranger(town)
    host = town.base_url.removeprefix("http://")
    for acct, id in (
        (ada.name, ada.id),
        (f"@{ada.name.upper()}", ada.id),
        (f"{ada.name}@{host}", ada.id),
        (f"{far.username}@{far.domain}", str(far.id)),
    ):
        answer = await town.http.get("/api/v1/accounts/lookup", params={"acct": acct})
        assert (answer.status_code, answer.json()["id"]) == (200, id), acct
    assert answer.json()["acct"] == f"{far.username}@{far.domain}"
    check(answer.json(), ACCOUNT)
    for acct in ("", "nobody_here", f"{ada.name}@elsewhere.example", far.username):
        assert (await town.http.get("/api/v1/accounts/lookup", params={"acct": acct})).status_code == 404
    many = await town.http.get("/api/v1/accounts", params={"id[]": [ada.id, bob.id, "1", "x", ada.id]})
    check(many.json(), [ACCOUNT])
    assert {one["id"] for one in many.json()} == {ada.id, bob.id}
    too_many = await town.http.get("/api/v1/accounts", params={"id[]": [str(id) for id in range(41)]})
    assert too_many.status_code == 422
    for path in ("1", "nobody", "9" * 30):
        answer = await town.http.get(f"/api/v1/accounts/{path}")
        assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"})
    assert await ada.get(f"/api/v1/accounts/{bob.id}/identity_proofs") == []
    assert (await town.http.post(f"/api/v1/accounts/{bob.id}/email_subscriptions")).status_code == 404


async def test_the_states_of_an_account(town: Town) -> None:
    ada, home = await join_all(town, 2)
    words = {"display_name": "Ada", "note": "hello", "fields_attributes": [{"name": "a", "value": "b"}]}
    shown = await ada.patch(UPDATE, json=words | {"locked": True, "discoverable": True, "indexable": True})

    async def seen(state: dict[str, Any]) -> dict[str, Any]:
        await set_state(town, ada.id, lambda work: {k: work.now if v == "now" else v for k, v in state.items()})
        found = (await town.http.get(f"/api/v1/accounts/{ada.id}")).json()
        check(found, ACCOUNT)
        return dict(found)

    limited = await seen({"silenced_at": "now"})
    assert (limited["limited"], limited["note"]) == (True, "<p>hello</p>")
    memorial = await seen({"silenced_at": None, "memorial": True})
    assert memorial["memorial"] is True
    assert "limited" not in memorial
    moved = await seen({"memorial": False, "moved_to": int(home.id)})
    assert moved["moved"]["id"] == home.id
    assert (await ada.call("GET", "/api/v1/accounts/verify_credentials")).json() == {
        "error": "Your login is currently disabled"
    }
    suspended = await seen({"moved_to": None, "suspended_at": "now"})
    assert suspended["suspended"] is True
    emptied = {"display_name": "", "note": "", "fields": [], "locked": False, "discoverable": False, "indexable": False}
    assert {name: suspended[name] for name in emptied} == emptied
    assert (await ada.call("PATCH", UPDATE, json={"note": "x"})).status_code == 403
    assert await seen({"suspended_at": None}) == {k: v for k, v in shown.items() if k not in ("source", "role")}
    await set_state(town, ada.id, lambda _: {"is_listed": False})
    for path in ("", "/followers", "/following", "/endorsements"):
        assert (await town.http.get(f"/api/v1/accounts/{ada.id}{path}")).status_code == 404
    assert (await home.call("POST", f"/api/v1/accounts/{ada.id}/follow")).status_code == 404


# Pages that link back


def test_which_links_a_page_calls_its_own() -> None:
    page = """<head><LINK href='https://a.example/@x' rel="alternate Me"></head>
        <a rel=me href=https://b.example/>b</a> <a href="https://c.example" rel="nofollow">c</a>
        <a
          rel="me noopener"
          href="https://d.example/?a=1&amp;b=2">d</a> <!-- rel="me" --> <area rel="me" href="https://e.example">"""
    assert own_links(page) == ["https://a.example/@x", "https://b.example/", "https://d.example/?a=1&b=2"]


@pytest.mark.parametrize(
    "page",
    [
        '<!-- <a rel="me" href="https://a.example/"> -->',
        '<title><a rel="me" href="https://a.example/"></title>',
        '<textarea><a rel="me" href="https://a.example/"></textarea>',
        '<script>"<a rel=me href=https://a.example/>"</script>',
        "<img alt='<a rel=me href=https://a.example/>'>",
    ],
)
def test_what_only_looks_like_a_link_is_none(page: str) -> None:
    assert own_links(page) == []


async def test_only_a_page_of_the_same_site_speaks_for_it(
    new_town: TownBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not what somebody has put there as a text, and not what an address of it leads to elsewhere."""
    link = ""

    async def show(request: web.Request) -> web.Response:
        if request.path == "/away":
            raise web.HTTPFound(f"https://localhost:{request.url.port}/page")
        return web.Response(text=link, content_type="text/html" if request.path == "/page" else "application/json")

    async with _https(tmp_path, show) as (base, authority):
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        town = await new_town(private_hosts="127.0.0.1,localhost")
        ada = await join(town)
        link = f'<a rel="me" href="{ada.me["url"]}">'
        rows = [{"name": path, "value": f"{base}/{path}"} for path in ("away", "echo", "page")]
        await ada.patch(UPDATE, json={"fields_attributes": rows})

        async def is_verified() -> bool:
            return (await ada.refreshed())["fields"][2]["verified_at"] is not None

        await until(is_verified)
        assert [field["verified_at"] is None for field in ada.me["fields"]] == [True, True, False]


async def test_a_link_is_verified_when_its_page_links_back(
    new_town: TownBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: dict[str, str] = {}

    async def show(request: web.Request) -> web.Response:
        return web.Response(text=pages[request.path], content_type="text/html")

    async with _https(tmp_path, show) as (base, authority):
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        town = await new_town(private_hosts="127.0.0.1")
        ada = await join(town)
        pages |= {"/mine": f'<a rel="me" href="{ada.me["url"].upper()}">', "/other": '<a rel="me" href="https://x.y">'}
        rows = [
            {"name": name, "value": value}
            for name, value in (("mine", f"{base}/mine"), ("other", f"{base}/other"), ("plain", "not a link"))
        ]
        await ada.patch(UPDATE, json={"fields_attributes": rows})

        async def is_verified() -> bool:
            return (await ada.refreshed())["fields"][0]["verified_at"] is not None

        await until(is_verified)
        check(ada.me, CREDENTIAL_ACCOUNT)
        assert [field["verified_at"] for field in ada.me["fields"][1:]] == [None, None]
        assert ada.me["source"]["fields"][0]["verified_at"] == ada.me["fields"][0]["verified_at"]
        # Saved once more, a link whose page has changed meanwhile is looked at again.
        pages["/other"] = pages["/mine"]

        async def is_verified_now() -> bool:
            shown = await ada.patch(UPDATE, json={"fields_attributes": rows})
            return shown["fields"][1]["verified_at"] is not None

        await until(is_verified_now)
        # What still says the same stays verified under another name; what says something else does not.
        rows[0]["name"], rows[1]["value"] = "home", f"{base}/mine#"
        shown = await ada.patch(UPDATE, json={"fields_attributes": rows})
        assert [field["verified_at"] is None for field in shown["fields"]] == [False, True, True]


@asynccontextmanager
async def _https(
    folder: Path, show: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> AsyncIterator[tuple[str, Path]]:
    """A server with a certificate that whoever is told of its file believes."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = folder / "authority.pem"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    chain = folder / "server.pem"
    chain.write_bytes(
        pem.read_bytes()
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(chain)
    app = web.Application()
    app.router.add_get("/{page}", show)
    server = TestServer(app, scheme="https")
    await server.start_server(ssl=context)
    try:
        yield f"https://127.0.0.1:{server.port}", pem
    finally:
        await server.close()


async def test_pictures_of_profiles_are_counted_before_they_are_opened(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    ada = await join(town)
    broken = {"avatar": ("a.png", b"\x89PNG\r\n\x1a\nno more", "image/png")}

    answers = [
        (await ada.call("PATCH", UPDATE, files=broken)).status_code
        for _ in range(2 * PROFILE_PICTURES.most + 1)  # a window may end meanwhile
    ]

    assert set(answers) == {422, 429}
    assert (await ada.call("PATCH", UPDATE, json={"note": "still here"})).status_code == 200
