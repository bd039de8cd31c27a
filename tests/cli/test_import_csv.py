from __future__ import annotations

import asyncio
import csv
import os
import sys
import uuid
from pathlib import Path

import pytest

from kith.base.errors import Invalid
from kith.cli.imports.people_file import read_people
from kith.identity.users import store as users
from tests.cli.running import kith
from tests.identity.records import make, new_name, owner_of
from tests.town import Town

PASSWORD = "a long enough passphrase 17"


async def test_people_come_from_a_table(town: Town, tmp_path: Path) -> None:
    # given
    a, b, c = (f"csv_{uuid.uuid4().hex[:8]}" for _ in range(3))
    file, links = tmp_path / "people.csv", tmp_path / "links.csv"
    links.touch(0o644)
    file.write_text(
        "\ufeffUsername;E-mail;Display name;Groups;Password\n"
        f"{a};{a}@example.org;Ann Other;Choir{a}|Garden{a};{PASSWORD}\n"
        f"{b};{b}@example.org;;;\n"
        f"{a.upper()};x@example.org;;;\n"
        f"{c} with blanks;;;;\n"
        f"{c};no address;;;\n",
        "utf-8",
    )
    words = ("import", "csv", str(file), "--confirmed", "--make-groups", "--links", str(links), "--json")

    # when
    rehearsed = await kith(town, *words, "--rehearse")
    signed_in = await town.http.get("/api/v2/core/users/me/", auth=(a, PASSWORD))
    done = await kith(town, *words)
    again = await kith(town, *words)

    # then
    assert signed_in.status_code == 401
    for told in (rehearsed, done):
        assert told.code == 1, told.complained  # somebody was left out
        assert (told.json["taken"], told.json["left_out"]) == ({"people": 2}, {"people": 3})
    assert again.json["taken"] == {"people": 0}
    me = (await town.http.get("/api/v2/core/users/me/", auth=(a, PASSWORD))).json()["user"]
    assert (me["name"], len(me["groups"])) == ("Ann Other", 2)
    [[name, _, link]] = list(csv.reader(links.read_text().splitlines()))
    assert name == b
    assert (await town.http.get(link)).status_code == 200
    assert links.stat().st_mode & 0o077 == Path(done.json["report"]).stat().st_mode & 0o077 == 0
    assert not [mail for mail in town.mails() if mail["To"] in (f"{a}@example.org", f"{b}@example.org")]


async def test_whoever_wrote_the_table_makes_nobody_mightier(town: Town, tmp_path: Path) -> None:
    owner, name = await owner_of(town), f"csv_{uuid.uuid4().hex[:8]}"
    role = await make(owner, "/rbac/roles/", name=new_name("role"), permissions=["core.view_user"])
    chiefs = await make(owner, "/core/groups/", name=new_name("chiefs"), is_superuser=True)
    above = await make(owner, "/core/groups/", name=new_name("above"), roles=[role["pk"]])
    below = await make(owner, "/core/groups/", name=new_name("below"), parent=above["pk"])
    choir = await make(owner, "/core/groups/", name=new_name("choir"))
    groups = "|".join(one["name"] for one in (chiefs, below, choir))
    file = tmp_path / "people.csv"
    file.write_text(f"username,groups,password\n{name},{groups},{PASSWORD}\n{name}_2,{groups},{PASSWORD}\n", "utf-8")

    rehearsed = await kith(town, "import", "csv", str(file), "--json", "--rehearse")
    done = await kith(town, "import", "csv", str(file), "--json")
    mine = [(await town.http.get("/api/v2/core/users/me/", auth=(one, PASSWORD))).json() for one in (name, f"{name}_2")]

    assert [(told.code, told.json["left_out"]["groups"]) for told in (rehearsed, done)] == [(1, 4), (1, 4)]
    assert [(me["is_superuser"], me["groups"]) for me in mine] == [(False, [choir["pk"]])] * 2
    file.write_text(f"username,groups,password\n{name}_3,{groups},{PASSWORD}\n", "utf-8")
    assert (await kith(town, "import", "csv", str(file), "--json", "--with-rights")).code == 0
    them = (await town.http.get("/api/v2/core/users/me/", auth=(f"{name}_3", PASSWORD))).json()
    assert them["is_superuser"] is True


async def test_a_run_that_was_killed_before_it_wrote_a_link_writes_one_when_it_goes_on(
    town: Town, tmp_path: Path
) -> None:
    # given a file of links that nobody reads any more, so that the run waits when it has made the first person
    names = [f"csv_{uuid.uuid4().hex[:8]}" for _ in range(2)]
    file, links = tmp_path / "people.csv", tmp_path / "links.csv"
    file.write_text("username\n" + "".join(f"{name}\n" for name in names))
    os.mkfifo(links)
    words = ("import", "csv", str(file), "--links", str(links))
    start = [sys.executable, "-c", "import sys; from kith.cli import main; sys.exit(main())", *words]
    process = await asyncio.create_subprocess_exec(*start, env=town.environment)
    os.close(await asyncio.to_thread(os.open, links, os.O_RDONLY))
    async with town.house() as house, asyncio.timeout(60):
        while True:
            async with house.works.begin() as work:
                if await users.find(work.db, names[0]) is not None:
                    break
            await asyncio.sleep(0.05)

    # when
    process.kill()
    await process.wait()
    links.unlink()
    done = await kith(town, *words)
    first = links.read_text()

    # then
    assert done.code == 0, done.complained
    written = list(csv.reader(first.splitlines()))
    assert [row[0] for row in written] == names
    for row in written:
        assert (await town.http.get(row[2])).status_code == 200


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"", "must name the columns"),
        (b"name,email\n", "one of them must be username"),
        (b"username,shoe size\n", "there is a column 'shoe size'"),
        (b"username,login\n", "two columns are for username"),
        (b"username\n\xff\n", "not UTF-8"),
    ],
)
def test_what_is_no_table_of_people_is_refused(tmp_path: Path, text: bytes, complaint: str) -> None:
    (tmp_path / "people.csv").write_bytes(text)
    with pytest.raises(Invalid, match=complaint):
        read_people(tmp_path / "people.csv")
