"""A directory that does not mean well: answers without an end, or that are none. Nothing is deleted for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kith.identity.sources.ldap.bounded_socket import MOST_ANSWER
from tests.identity import hostile_directory as hostile
from tests.identity.hostile_directory import Answers, hostile_directory
from tests.identity.records import make, new_name, owner_of, results
from tests.identity.test_source_ldap import copied
from tests.town import Town, build_town
from tests.town.town import Engine


@pytest.fixture(scope="module")
async def here(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with build_town(engine, tmp_path_factory.mktemp("here"), private_hosts="127.0.0.1") as built:
        yield built


def held_between() -> int:
    """What the system's buffers of one connection may take that nobody has read yet."""
    limits = (Path("/proc/sys/net/ipv4") / name for name in ("tcp_rmem", "tcp_wmem"))
    return sum(int(one.read_text().split()[-1]) for one in limits)


async def make_directory(town: Town, uri: str) -> dict[str, Any]:
    owner = await owner_of(town)
    given = {
        "name": new_name("directory"), "slug": new_name("directory"), "server_uri": uri, "bind_cn": "cn=admin",
        "bind_password": "secret", "base_dn": "dc=example,dc=org", "user_object_filter": "(objectClass=person)",
        "group_object_filter": "(objectClass=groupOfNames)", "object_uniqueness_field": "entryUUID",
        "property_mappings": [], "sync_groups": False, "delete_not_found_objects": True, "enabled": True,
        "start_tls": False,
    }  # fmt: skip
    return await make(owner, "/sources/ldap/", **given)


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (hostile.endless_entries, "does not end"),
        (hostile.endless_message, "does not end"),
        (hostile.endless_pages, "does not end"),
        (hostile.nested, ""),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
async def test_a_copy_of_what_does_not_end_or_is_no_answer_fails(here: Town, answers: Answers, told: str) -> None:
    async with hostile_directory(answers) as directory:
        source = await make_directory(here, directory.uri)
        said = await copied(here, source)

    assert said["last_sync_status"] == "error"
    assert told in " ".join(said["notes"])
    assert directory.searches <= 30
    assert directory.sent < MOST_ANSWER + held_between() + (4 << 20)


async def test_referrals_are_not_followed(here: Town) -> None:
    async with hostile_directory(hostile.referrals) as directory:
        source = await make_directory(here, directory.uri)
        said = await copied(here, source)

    assert (said["last_sync_status"], directory.searches) == ("successful", 1)


async def test_strange_people_keep_nobody_else_out(here: Town) -> None:
    async with hostile_directory(hostile.strange_people) as directory:
        source = await make_directory(here, directory.uri)
        said = await copied(here, source)

    assert said["last_sync_status"] == "successful", said["notes"]
    [found] = await results(await owner_of(here), "/core/users/", username="last-of-all")
    assert found["is_active"] is True
