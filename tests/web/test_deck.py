"""Columns side by side, by links and forms alone; which ones is kept in the browser."""

from __future__ import annotations

import re

import pytest

from kith.web.client.deck import changed, names_in
from tests.social.members import join
from tests.social.posts import post, settle
from tests.town import Town
from tests.web.browsing import Browser
from tests.web.test_client import signed_in


def columns(browser: Browser) -> list[str]:
    return re.findall(r'data-column="([^"]+)"', browser.page.text)


async def change(browser: Browser, **fields: str) -> None:
    form = {"csrf": browser.cookie("kith_csrf") or "", **fields}
    browser.page = await browser.http.post("/deck", data=form, follow_redirects=True)


async def test_columns_are_added_moved_and_removed(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    friends = await ada.post("/api/v1/lists", json={"title": "Friends"})
    await post(bob, "All about #cats")
    await bob.to(ada, "follow")
    await settle(town)
    await browser.open("/deck")
    assert columns(browser) == ["home", "notifications", "local"]
    assert f"@{bob.name} followed you" in re.sub(
        r"<a class=\"who\" href=\"/([^\"]+)\">[^<]*</a>", r"\1", browser.page.text
    )

    await browser.press("/deck", does="add", column="", tag="#cats")
    await change(browser, does="add", column=f"list:{friends['id']}")
    await change(browser, does="remove", column="local")
    await change(browser, does="earlier", column="tag:cats")

    assert columns(browser) == ["home", "tag:cats", "notifications", f"list:{friends['id']}"]
    assert "All about" in browser.page.text
    assert ">Friends</a>" in browser.page.text
    assert "List: Friends" not in browser.page.text  # it is there already


async def test_a_column_whose_list_is_gone_says_so(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    theirs = await bob.post("/api/v1/lists", json={"title": "Secret"})
    await browser.open("/deck")
    await change(browser, does="add", column=f"list:{theirs['id']}")

    assert "This timeline is gone" in browser.page.text
    assert "Secret" not in browser.page.text
    for name in ("home", "notifications", "local", f"list:{theirs['id']}"):
        await change(browser, does="remove", column=name)
    assert "There are no columns yet" in browser.page.text
    assert (await ada.call("GET", "/api/v1/lists")).status_code == 200


@pytest.mark.parametrize(
    ("cookie", "names"),
    [
        ("", []),
        ("-", []),
        ("home.local.home", ["home", "local"]),
        ("tag%3Acats.list%3A5.list%3Ax.tag%3A1.nothing", ["tag:cats", "list:5"]),
        (".".join(f"list%3A{number}" for number in range(1, 20)), [f"list:{number}" for number in range(1, 7)]),
    ],
)
def test_only_timelines_are_read_from_the_cookie(cookie: str, names: list[str]) -> None:
    assert names_in(cookie) == names


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ({"does": "add", "column": "public"}, ["home", "local", "public"]),
        ({"does": "add", "column": "home"}, ["home", "local"]),
        ({"does": "add", "column": "<b>"}, ["home", "local"]),
        ({"does": "add", "column": "public", "tag": "#Cats"}, ["home", "local", "tag:Cats"]),
        ({"does": "later", "column": "home"}, ["local", "home"]),
        ({"does": "earlier", "column": "home"}, ["home", "local"]),
        ({"does": "remove", "column": "home"}, ["local"]),
        ({"does": "remove", "column": "public"}, ["home", "local"]),
    ],
)
def test_what_forms_do_to_the_columns(form: dict[str, str], names: list[str]) -> None:
    assert changed(["home", "local"], form) == names
