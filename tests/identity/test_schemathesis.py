"""The description against the server: thousands of calls made up from the document, and no answer it does not name."""

from __future__ import annotations

import base64
from collections import Counter
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.conftest import TownBuilder
from tests.identity.maker import API, BY_PATH, Maker
from tests.town import Person, Town

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
PER_OPERATION = {"sqlite": 18, "postgresql": 2}
FEWEST = {"sqlite": 5000, "postgresql": 600}
EACH = 3  # records of every collection, to be read, changed and deleted
ORDER = ("GET", "POST", "PUT", "PATCH", "DELETE")
REFERRED = ("/flows/instances/", "/stages/dummy/", "/policies/dummy/", "/core/applications/", "/core/groups/")

_known: list[str] = []  # identifiers that bodies may refer to, in the town at hand


def _identifier(place: int, unknown: object) -> str:
    return _known[place] if place < len(_known) else str(unknown)


schemathesis.openapi.format("uuid", st.builds(_identifier, st.integers(0, 2 * len(REFERRED)), st.uuids()))


async def test_no_call_gets_an_answer_that_the_description_does_not_name(new_town: TownBuilder) -> None:
    town = await new_town()
    ada = await town.owner()
    records = await _records(Maker(ada))
    _known[:] = [records[path][0] for path in REFERRED]
    document = (await town.http.get(f"{API}/openapi.json")).json()
    caller = await _caller(town, ada)

    caller.explore(document, records)

    import json; open(f"/tmp/wrong-{town.engine}.json","w").write(json.dumps([caller.wrong, dict(caller.codes)])); open("/tmp/townlog","w").write(town.log())
    assert caller.wrong == []
    assert caller.codes.total() >= FEWEST[town.engine]
    assert caller.codes[200] + caller.codes[201] + caller.codes[204] > caller.codes.total() / 4
    assert "Traceback" not in town.log()


async def _records(maker: Maker) -> dict[str, list[Any]]:
    return {
        path: [(await maker.make(collection))["pk"] for _ in range(EACH)]
        for path, collection in BY_PATH.items()
        if "POST" in collection.methods
    }


async def _caller(town: Town, ada: Person) -> Caller:
    """With a token, which opens the door whatever a call has made of its owner's name and password."""
    answer = await ada.call("POST", f"{API}/core/tokens/", json={"expiring": False})
    pair = f"{ada.username}:{answer.json()['key']}"
    return Caller(town, "Basic " + base64.b64encode(pair.encode()).decode())


class Caller:
    def __init__(self, town: Town, credentials: str) -> None:
        self._town = town
        self._session = requests.Session()
        self._headers = {"Authorization": credentials}
        self.codes: Counter[int] = Counter()
        self.wrong: list[str] = []

    def explore(self, document: dict[str, Any], records: dict[str, list[Any]]) -> None:
        schema = schemathesis.openapi.from_dict(document | {"security": []})  # wrong credentials are not its subject
        operations = [found.ok() for found in schema.get_all_operations()]
        for operation in sorted(operations, key=lambda one: ORDER.index(one.method.upper())):
            known = records.get(operation.path.partition("{")[0], []) if "{" in operation.path else []
            self._try(operation, known)

    def _try(self, operation: Any, known: list[Any]) -> None:
        cases = st.one_of(
            operation.as_strategy(generation_mode=GenerationMode.POSITIVE),
            operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
        )

        @seed(2020)
        @settings(
            max_examples=PER_OPERATION[self._town.engine],
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=cases, place=st.integers(0, EACH))
        def run(case: Case, place: int) -> None:
            if place < len(known):
                case.path_parameters = dict.fromkeys(case.path_parameters or {}, known[place])
            self._call(case)

        run()

    def _call(self, case: Case) -> None:
        answer = case.call(base_url=f"{self._town.base_url}{API}", session=self._session, headers=self._headers)
        self.codes[answer.status_code] += 1
        try:
            case.validate_response(answer, checks=CHECKS)
        except FailureGroup as failures:
            self.wrong.append(f"{case.operation.label}: {failures}")
