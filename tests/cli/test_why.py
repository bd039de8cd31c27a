from __future__ import annotations

import asyncio

from kith.base.work import Origin
from kith.identity.expressions import subjects
from kith.identity.policies.request import BindingResult, PolicyRequest, PolicyVerdict
from kith.identity.refusals import service
from kith.identity.users import store
from tests.cli.running import kith, settle
from tests.conftest import TownBuilder

BINDING = "6a1c5ba8-37d6-4c5f-93a4-3b2b1a1f0a11"


async def test_why_tells_who_was_refused_what_and_by_which_rules(new_town: TownBuilder) -> None:
    town = await new_town(start=False)
    await settle(town, "ada", role="user")
    asked = BindingResult(
        binding=BINDING,
        kind="expression",
        about="p",
        name="on-weekdays",
        negate=False,
        passing=False,
        messages=["Not on Sundays."],
        log=["it is\x1b[31m Sunday"],
    )
    async with town.house() as house, house.works.begin(Origin("r1", "192.0.2.9")) as work:
        ada = await store.find(work.db, "ada")
        assert ada is not None
        request = PolicyRequest(
            person=await subjects.get(work, ada.id), context={"colour": "blue", "password": "hunter2"}, target=BINDING
        )
        code = await service.refuse_by_policy(
            work,
            PolicyVerdict(passing=False, trace=[asked]),
            request,
            area="application Wiki",
            message="Not on Sundays.",
        )
        await service.refuse(work, area="flow enter", message="No.", reason="closed")

    by_code, as_json, listed, unknown = await asyncio.gather(
        kith(town, "why", code.lower().replace("-", "")),
        kith(town, "why", code, "--json"),
        kith(town, "why"),
        kith(town, "why", "K7QF-2MXD"),
    )

    for words in (
        code,
        "who\tada",
        "from\t192.0.2.9",
        "where\tapplication Wiki",
        "they read\tNot on Sundays.",
        "why\tPolicies refused.",
        "on-weekdays (expression)",
        "said\tno",
        "it is [31m Sunday",
        '"colour":"blue"',
        "r1",
    ):
        assert words in by_code.said, words
    assert "hunter2" not in by_code.said + as_json.said
    assert (as_json.json["code"], as_json.json["details"]["policies"][0]["binding"]) == (code, BINDING)
    assert sorted(line.split("\t")[3] for line in listed.said.splitlines()) == ["application Wiki", "flow enter"]
    assert (unknown.code, unknown.said) == (1, "")
    assert (
        unknown.complained == "kith: there is no record for the code K7QF-2MXD; run `kith why` to see the latest ones\n"
    )
