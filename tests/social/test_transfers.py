"""CSV files of whom one follows, mutes and blocks: written, read, and imported by jobs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.errors import Malformed
from kith.social.transfers.formats import KINDS, MOST_BYTES, read_rows, write_rows
from tests.social.members import Member, join, until
from tests.social.posts import post
from tests.town import Town
from tests.web.browsing import Browser


@pytest.mark.parametrize(
    ("kind", "text", "rows"),
    [
        (
            "following",
            'Account address,Show boosts,Notify on new posts,Languages\nann@a.example,false,true,"de, en"\n',
            [{"acct": "ann@a.example", "reblogs": False, "notify": True, "languages": ["de", "en"]}],
        ),
        ("following", "@ann@A.example\nann@a.EXAMPLE\n", [{"acct": "ann@a.example"}]),
        ("muting", "Account address\nann@a.example\n", [{"acct": "ann@a.example"}]),
        ("blocking", "\ufeffann\r\n\r\nnot a name\r\n", [{"acct": "ann"}]),
        ("domain_blocking", "#domain,#severity\nLoud.example,suspend\n", [{"domain": "loud.example"}]),
        ("lists", "Friends,ann@a.example\n,bob@a.example\n", [{"acct": "ann@a.example", "list": "Friends"}]),
        ("bookmarks", "https://a.example/1\njavascript:alert(1)\n", [{"uri": "https://a.example/1"}]),
    ],
)
def test_files_are_read_with_and_without_names_of_columns(kind: str, text: str, rows: list[dict[str, Any]]) -> None:
    assert read_rows(kind, text.encode()) == rows


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b'"open', b"a b c\n", b"x" * (MOST_BYTES + 1), b"a@b.example\n\0", b"\n" * 50_000]
)
def test_other_files_are_refused_with_words(content: bytes) -> None:
    with pytest.raises(Malformed):
        read_rows("following", content)


@given(st.sampled_from(KINDS), st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(kind: str, content: bytes) -> None:
    try:
        rows = read_rows(kind, content)
    except Malformed:
        return
    assert rows


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=5, unique=True))
def test_names_of_lists_come_back(titles: list[str]) -> None:
    written = write_rows("lists", [[title, "ann@a.example"] for title in titles])
    wanted = {title.strip() for title in titles if title.strip()}
    try:
        found = {row["list"] for row in read_rows("lists", written)}
    except Malformed:
        found = set()
    assert {name.lower() for name in found} <= {name.lower() for name in wanted}


@pytest.fixture
async def browser(town: Town) -> Any:
    made = Browser(town)
    yield made
    await made.close()


async def signed_in(town: Town, browser: Browser) -> Member:
    member = await join(town)
    await browser.sign_in(member.name, f"correct horse {member.name}")
    return member


async def send(browser: Browser, kind: str, text: str, mode: str = "merge") -> str:
    await browser.open("/settings/import")
    token = browser.cookie("kith_csrf") or ""
    files = {"file": ("mine.csv", text.encode(), "text/csv")}
    answer = await browser.http.post(
        "/settings/import",
        data={"csrf": token, "kind": kind, "mode": mode},
        files=files,
        follow_redirects=True,
    )

    async def is_done() -> bool:
        return "being imported</span>" not in (await browser.open("/settings/import")).text

    if answer.status_code == 200:
        await until(is_done)
    return answer.text


async def download(browser: Browser, name: str) -> str:
    answer = await browser.http.get(f"/settings/exports/{name}.csv")
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}.csv"'
    return answer.text


async def test_what_one_exports_somebody_else_imports(town: Town, browser: Browser) -> None:
    ada, bob, cleo = await signed_in(town, browser), await join(town), await join(town)
    said = await post(bob, "Keep me")
    await ada.post(f"/api/v1/accounts/{bob.id}/follow", json={"reblogs": False})
    await ada.to(cleo, "block")
    await ada.post("/api/v1/domain_blocks", json={"domain": "loud.example"})
    await ada.post(f"/api/v1/statuses/{said['id']}/bookmark")
    made = await ada.post("/api/v1/lists", json={"title": "Friends, old"})
    await ada.post(f"/api/v1/lists/{made['id']}/accounts", json={"account_ids": [bob.id]})
    host = town.base_url.partition("://")[2]
    files = {
        name: await download(browser, name) for name in ("follows", "blocks", "domain_blocks", "bookmarks", "lists")
    }
    assert files["follows"] == (
        f"Account address,Show boosts,Notify on new posts,Languages\n{bob.name}@{host},false,false,\n"
    )
    assert files["lists"] == f'"Friends, old",{bob.name}@{host}\n'
    assert (await browser.http.get("/settings/exports/passwords.csv")).status_code == 404

    other = Browser(town)
    dora = await signed_in(town, other)
    for name, kind in (("follows", "following"), ("blocks", "blocking"), ("domain_blocks", "domain_blocking"),
                       ("bookmarks", "bookmarks"), ("lists", "lists")):  # fmt: skip
        await send(other, kind, files[name])
    seen = await dora.sees(bob)
    assert (seen["following"], seen["showing_reblogs"]) == (True, False)
    assert (await dora.sees(cleo))["blocking"]
    assert await dora.get("/api/v1/domain_blocks") == ["loud.example"]
    assert [one["id"] for one in await dora.get("/api/v1/bookmarks")] == [said["id"]]
    [there] = await dora.get("/api/v1/lists")
    assert there["title"] == "Friends, old"
    assert [one["id"] for one in await dora.get(f"/api/v1/lists/{there['id']}/accounts")] == [bob.id]
    await other.close()


async def test_what_cannot_be_done_stays_behind_and_what_is_not_named_is_replaced(town: Town, browser: Browser) -> None:
    ada, bob, cleo = await signed_in(town, browser), await join(town), await join(town)
    await ada.to(bob, "follow")
    await send(browser, "following", f"{cleo.name}\nnobody-of-that-name\n{ada.name}\n", mode="overwrite")

    assert "1 of 3 imported" in browser.page.text
    [failures] = re.findall(r'href="(/settings/imports/\d+/failures.csv)"', browser.page.text)
    told = (await browser.http.get(failures)).text.splitlines()
    assert [line.split(",")[0] for line in told[1:]] == ["nobody-of-that-name", ada.name]
    assert not (await ada.sees(bob))["following"]
    assert (await ada.sees(cleo))["following"]
    other = Browser(town)
    await signed_in(town, other)
    assert (await other.http.get(failures)).status_code == 404
    await other.close()


async def test_what_is_no_such_file_is_refused_and_changes_nothing(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    assert "is not a CSV file" in await send(browser, "following", '"never closed')
    assert "Please choose what is in the file" in await send(browser, "passwords", "a@b.example")
    assert "You have not imported anything lately" in (await browser.open("/settings/import")).text
