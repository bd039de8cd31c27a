"""Posts that somebody brings along. What archives may hold beyond all limits is refused before it is read."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import os
import sys
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kith.base.errors import Invalid
from kith.cli.imports.archive import files
from kith.cli.imports.archive.files import open_archive
from kith.cli.imports.archive.notes import LONGEST_OPTION, notes_in
from kith.cli.imports.archive.pictures import Finder
from tests.cli.mastodon_server import PNG
from tests.cli.running import kith
from tests.social.members import Member, join
from tests.town import Town

OLD = "https://old.example/users/ada"
PUBLIC = "https://www.w3.org/ns/activitystreams#Public"
FOLLOWERS = f"{OLD}/followers"


def note(number: int, html: str, published: str, to: str = PUBLIC, **more: Any) -> dict[str, Any]:
    found = {
        "id": f"{OLD}/statuses/{number}", "type": "Note", "attributedTo": OLD, "published": published, "to": [to],
        "cc": [], "content": html, "summary": None, "sensitive": False, "inReplyTo": None, "attachment": [], "tag": [],
        "url": f"https://old.example/@ada/{number}",
    }  # fmt: skip
    return {"id": f"{OLD}/statuses/{number}/activity", "type": "Create", "actor": OLD, "object": found | more}


def outbox() -> dict[str, Any]:
    picture = {"type": "Document", "mediaType": "image/png", "url": "/media_attachments/files/1/original/a.png",
               "name": "A dot"}  # fmt: skip
    return {
        "type": "OrderedCollection",
        "orderedItems": [
            note(3, "<p>and <script>no</script>more</p>", "2020-03-01T10:00:00Z", inReplyTo=f"{OLD}/statuses/1"),
            note(1, "<p>First, #Tea</p>", "2020-03-01T10:00:00Z", attachment=[picture],
                 tag=[{"type": "Hashtag", "name": "#Tea"}], contentMap={"en": "x"}),
            note(2, "<p>for friends</p>", "2019-01-01T00:00:00Z", FOLLOWERS),
            note(4, "<p>which?</p>", "2021-01-01T00:00:00Z", type="Question",
                 oneOf=[{"name": "a", "replies": {"totalItems": 2}}, {"name": "b", "replies": {"totalItems": 0}}]),
            note(5, "<p>from the future</p>", "2999-01-01T00:00:00Z"),
            note(6, "<p>lost file</p>", "2022-01-01T00:00:00Z", attachment=[picture | {"url": "/gone/b.png"}]),
            {"id": f"{OLD}/statuses/9/activity", "type": "Announce", "actor": OLD, "object": "https://x.example/1"},
        ],
    }  # fmt: skip


def write(path: Path, contents: dict[str, bytes]) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, data in contents.items():
                packed.writestr(name, data)
    else:
        with tarfile.open(path, "w:gz") as tar:
            for name, data in contents.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
    return path


async def test_posts_come_along_dated_as_they_were(town: Town, tmp_path: Path) -> None:
    # given
    ada, bob = await join(town), await join(town)
    await bob.post(f"/api/v1/accounts/{ada.id}/follow")
    mark = await ada.post("/api/v1/statuses", json={"status": "here"})
    contents = {
        "outbox.json": json.dumps(outbox()).encode(),
        "bookmarks.json": json.dumps({"orderedItems": [mark["uri"], "https://far.example/1"]}).encode(),
        "media_attachments/files/1/original/a.png": PNG,
        "../../../evil": b"x",
    }
    words = ("import", "archive", str(write(tmp_path / "archive.zip", contents)), "--to", ada.name, "--json")

    # when
    rehearsed = await kith(town, *words, "--rehearse")
    done = await kith(town, *words)
    again = await kith(town, *words)

    # then
    assert (rehearsed.code, done.code, again.code) == (1, 1, 1), done.complained  # what was left out is a failure
    assert rehearsed.json["taken"] == done.json["taken"] == {"unfit": 0, "posts": 5, "bookmarks": 1}
    assert again.json["taken"]["posts"] == 0
    assert done.json["left_out"] == {"posts": 2, "media": 1, "bookmarks": 1}
    await _see(ada, bob, mark["id"])


async def _see(ada: Member, bob: Member, newest: str) -> None:
    found = await ada.get(f"/api/v1/accounts/{ada.id}/statuses")
    assert [one["created_at"][:10] for one in found[1:]] == [
        "2022-01-01", "2021-01-01", "2020-03-01", "2020-03-01", "2019-01-01",
    ]  # fmt: skip
    _, _, poll, reply, first, friends = found
    assert found[0]["id"] == newest
    assert (reply["content"], reply["in_reply_to_id"]) == ("<p>and more</p>", first["id"])
    assert (first["media_attachments"][0]["description"], first["tags"][0]["name"]) == ("A dot", "tea")
    assert (await ada.town.http.get(first["media_attachments"][0]["url"])).status_code == 200
    assert (friends["visibility"], poll["poll"]["votes_count"], poll["poll"]["expired"]) == ("private", 2, True)
    assert first["application"] == {"name": "Imported from old.example", "website": "https://old.example/@ada/1"}
    assert (await ada.get("/api/v1/accounts/verify_credentials"))["statuses_count"] == 6
    assert [one["id"] for one in await ada.get("/api/v1/bookmarks")] == [newest]
    assert await bob.get("/api/v1/notifications") == []
    context = await ada.get(f"/api/v1/statuses/{first['id']}/context")
    assert [one["id"] for one in context["descendants"]] == [reply["id"]]


def test_older_archives_are_read_as_well(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tar.gz", {"./outbox.json": json.dumps(outbox()).encode(), "../evil": b"x"})
    opened = open_archive(path)
    notes, left = notes_in(opened)
    opened.close()
    assert ([one.uri[-1] for one in notes], len(left)) == (["2", "1", "3", "4", "6"], 2)
    assert not (tmp_path.parent / "evil").exists()


async def test_what_is_done_is_shown_on_a_terminal_from_the_beginning(town: Town, tmp_path: Path) -> None:
    path = write(tmp_path / "archive.zip", {"outbox.json": json.dumps(outbox()).encode()})
    words = ["import", "archive", str(path), "--to", (await join(town)).name, "--rehearse", "--json"]
    start = [sys.executable, "-c", "import sys; from kith.cli import main; sys.exit(main())", *words]
    ours, theirs = os.openpty()
    process = await asyncio.create_subprocess_exec(
        *start, env=town.environment, stdout=asyncio.subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)

    shown = await asyncio.to_thread(_all_of, ours)
    said, _ = await process.communicate()

    assert b"reading" in shown
    assert b"posts" in shown
    assert json.loads(said)["taken"]["posts"] == 5


def _all_of(terminal: int) -> bytes:
    """A terminal whose program is gone cannot be read."""
    found = b""
    with suppress(OSError):
        while part := os.read(terminal, 1 << 16):
            found += part
    os.close(terminal)
    return found


@pytest.mark.parametrize("name", ["outbox.json", "statuses.json", "bookmarks.json"])
async def test_an_archive_that_is_not_utf8_is_refused_in_words(town: Town, tmp_path: Path, name: str) -> None:
    text = json.dumps(outbox(), ensure_ascii=False).replace("First", "Grüße").encode("latin-1")
    contents = {"outbox.json": json.dumps(outbox()).encode()} if name == "bookmarks.json" else {}
    data = {"statuses.json": b'[{"content": "Gr\xfc\xdfe"}]', "bookmarks.json": b'{"orderedItems": ["Gr\xfc"]}'}
    path = write(tmp_path / "archive.zip", contents | {name: data.get(name, text)})

    done = await kith(town, "import", "archive", str(path), "--to", (await join(town)).name)

    assert (done.code, done.said) == (1, "")
    assert f"{name} cannot be read, it must be UTF-8 text" in done.complained


def test_statuses_as_an_api_gives_them_are_read(tmp_path: Path) -> None:
    shown = {
        "id": "01H", "uri": f"{OLD}/statuses/01H", "url": None, "created_at": "2023-05-01T10:00:00.000Z",
        "visibility": "unlisted", "content": "<p>hi</p>", "spoiler_text": "", "sensitive": False, "language": "de",
        "in_reply_to_id": None, "tags": [{"name": "tea"}], "media_attachments": [], "poll": None, "reblog": None,
    }  # fmt: skip
    poll = {"options": [{"title": "x" * 100_000, "votes_count": 1}, {"title": "no"}], "multiple": False}
    odd: list[Any] = [
        shown, shown | {"id": "01J", "in_reply_to_id": "01H", "poll": poll}, shown | {"reblog": {}, "uri": 3}, 7,
    ]  # fmt: skip
    path = write(tmp_path / "a.zip", {"mine/statuses.json": json.dumps(odd).encode()})
    notes, left = notes_in(open_archive(path))
    assert [(one.number, one.parent, one.visibility) for one in notes] == [("#01H", None, 1), ("#01J", "#01H", 1)]
    assert [len(option) for option in notes[1].options] == [LONGEST_OPTION, 2]
    assert len(left) == 2


@pytest.mark.parametrize(
    ("contents", "complaint"),
    [
        ({"readme": b"x"}, "holds no posts"),
        ({"outbox.json": b"{"}, "cannot be read"),
        ({"outbox.json": b'{"orderedItems": 3}'}, "cannot be read"),
        ({"outbox.json": b"0" * 20_000_000}, "packed too tightly"),
    ],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, contents: dict[str, bytes], complaint: str) -> None:
    path = write(tmp_path / "a.zip", contents)
    with pytest.raises(Invalid, match=complaint):
        notes_in(open_archive(path))


def test_an_archive_of_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_ENTRIES", 2)
    for name in ("a.zip", "a.tar.gz"):
        path = write(tmp_path / name, {str(number): b"" for number in range(4)})
        with pytest.raises(Invalid, match="holds too much"):
            open_archive(path)
    (tmp_path / "b.zip").write_bytes(b"no archive")
    with pytest.raises(Invalid, match="neither a ZIP"):
        open_archive(tmp_path / "b.zip")


def _tar(path: Path, *entries: tuple[str, bytes, int, bytes]) -> Path:
    """Entries by name, kind, the size they tell, and what follows."""
    with gzip.open(path, "wb") as packed:
        for name, kind, size, data in entries:
            head = tarfile.TarInfo(name)
            head.type, head.size = kind, size
            packed.write(head.tobuf(tarfile.GNU_FORMAT) + data.ljust(-(-len(data) // 512) * 512, b"\0"))
        packed.write(bytes(1024))
    return path


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ([("a", tarfile.REGTYPE, 1 << 20, bytes(1 << 20))], "times its own size"),
        ([("a", tarfile.DIRTYPE, -(1 << 60), b""), ("b", tarfile.REGTYPE, 1 << 20, bytes(1 << 20))], "too much"),
        ([("a", tarfile.GNUTYPE_LONGNAME, 2 << 20, bytes(2 << 20))], "too long"),
        ([("a", tarfile.XHDTYPE, 2 << 20, bytes(2 << 20))], "too long"),
        ([("a", tarfile.XHDTYPE, 12 << 10, bytes(12 << 10)), ("a", tarfile.REGTYPE, 0, b"")] * 20, "too long"),
        ([("a", tarfile.XHDTYPE, 9, b"9 path=a\n")] * 2000, "cannot be|can be read"),
        ([("a", tarfile.GNUTYPE_LONGNAME, 2, b"a\0")] * 2000, "cannot be|can be read"),
        (
            [
                ("a", tarfile.XHDTYPE, 44, b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n"),
                ("b", tarfile.REGTYPE, 2, b"x\n"),
            ],
            "can be read",
        ),
        ([("a", tarfile.XHDTYPE, 14, b"14 size=-1000\n"), ("b", tarfile.REGTYPE, 0, b"")], "can be read"),
    ],
)
def test_a_tar_archive_that_grows_beyond_measure_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: list[Any], complaint: str
) -> None:
    monkeypatch.setattr(files, "_FREE_TAR", 4096)
    with pytest.raises(Invalid, match=complaint):
        open_archive(_tar(tmp_path / "a.tar.gz", *entries))


def test_odd_addresses_and_times_leave_out_a_post_and_not_all(tmp_path: Path) -> None:
    odd = [
        note(1, "<p>a</p>", "2020-01-01T00:00:00Z", id="https://[odd"),
        note(2, "<p>b</p>", "0001-01-01T00:00:00+23:00"),
        note(3, "<p>c</p>", "2020-01-01T00:00:00Z"),
    ]
    contents = {"outbox.json": json.dumps({"orderedItems": odd}).encode(), "x/y/z/1/original/a.png": PNG}
    archive = open_archive(write(tmp_path / "a.zip", contents))
    notes, left = notes_in(archive)
    assert ([one.html for one in notes], len(left)) == (["<p>c</p>"], 2)
    finder = Finder(archive)
    assert finder.find("https://[odd") is None
    assert finder.find("/gone/a.jpg") is None
    assert finder.find("https://old.example/media/1/original/a.png") == "x/y/z/1/original/a.png"
