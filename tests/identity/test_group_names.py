"""Names of groups that look the same are the same: of each there is one group, whoever writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kith.identity.groups.names import group_key
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.identity.scim_service import GROUP, make_service
from tests.town import Town

ALIKE = "There is a group whose name differs from this one by case or spaces only."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Admins", "admins"),
        ("Admins", " ADMINS  "),
        ("On  call", "on\u00a0call"),
        ("Admins", "Ａｄｍｉｎｓ"),
        ("Straße", "STRASSE"),
        ("É", "e\u0301"),
    ],
)
def test_names_that_look_the_same_are_the_same(one: str, other: str) -> None:
    assert group_key(one) == group_key(other)


def spellings(name: str) -> tuple[str, ...]:
    return (name.upper(), f"  {name.replace(' ', '   ')}", name.replace(" ", "\u2003"), f"Ａ{name[1:]}")


async def test_nobody_makes_a_group_beside_one_of_the_same_name(town: Town, tmp_path: Path) -> None:
    owner, service = await owner_of(town), await make_service(town)
    eve = await person_who_may(town, owner, "core.add_group", "core.change_group", "core.view_group")
    name, other = new_name("Admins of"), new_name("other")
    await make(owner, "/core/groups/", name=name, is_superuser=True)
    mine = await make(eve, "/core/groups/", name=other)
    theirs = await service.call("POST", "/Groups", {"schemas": [GROUP], "displayName": new_name("hr")}, 201)

    for spelling in spellings(name):
        made = await eve.call("POST", f"{API}/core/groups/", json={"name": spelling})
        renamed = await eve.call("PATCH", f"{API}/core/groups/{mine['pk']}/", json={"name": spelling})
        assert [one.status_code for one in (made, renamed)] == [400, 400], spelling
        assert renamed.json()["name"][0] in (ALIKE, "This field must be unique.")
        group = {"schemas": [GROUP], "displayName": spelling}
        await service.call("POST", "/Groups", group, 409)
        await service.call("PUT", f"/Groups/{theirs['id']}", group, 409)
        sheet = tmp_path / "people.csv"
        sheet.write_text(f"username,groups\n{new_name('p')},{spelling}\n")
        await town.kith("import", "csv", str(sheet), "--make-groups", expect=1)  # a membership was left out

    found = [one["name"] for one in await results(owner, "/core/groups/") if group_key(one["name"]) == group_key(name)]
    assert found == [name]
    for again in (other.upper(), f"{other} "):
        kept = await eve.call("PATCH", f"{API}/core/groups/{mine['pk']}/", json={"name": again})
        assert kept.status_code == 200, kept.text
