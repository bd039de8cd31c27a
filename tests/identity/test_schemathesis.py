"""The description against the server: thousands of calls made up from the document, and no answer it does not name."""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.conftest import TownBuilder
from tests.identity.record_maker import API, BY_PATH, Maker, word
from tests.identity.seed import Collection
from tests.modes import sized
from tests.town import Person, Town

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
PER_OPERATION = {"sqlite": sized(1, 6), "postgresql": 1}
WAYS = sized(2, 3)  # in which each is sent: making up a call takes longer than sending it
FEWEST = {"sqlite": sized(600, 5000), "postgresql": 600}
EACH = 3  # records of every collection, to be read, changed and deleted
ORDER = ("GET", "POST", "PUT", "PATCH", "DELETE")
REFERRED = ("/flows/instances/", "/stages/dummy/", "/policies/dummy/", "/core/applications/", "/core/groups/")
MAKING = [one for one in BY_PATH.values() if "POST" in one.methods]

_known: list[str] = []  # identifiers that bodies may refer to, in the town at hand


def _identifier(place: int, unknown: object) -> str:
    return _known[place] if place < len(_known) else str(unknown)


schemathesis.openapi.format("uuid", st.builds(_identifier, st.integers(0, 2 * len(REFERRED)), st.uuids()))


async def test_no_call_gets_an_answer_that_the_description_does_not_name(new_town: TownBuilder) -> None:
    town = await new_town()
    ada = await town.owner()
    maker = Maker(ada)
    records = {one.path: [(await maker.make(one))["pk"] for _ in range(EACH)] for one in MAKING}
    bodies = {one.path: await _body(maker, one) for one in MAKING}
    _known[:] = [records[path][0] for path in REFERRED]
    document = (await town.http.get(f"{API}/openapi.json")).json()
    explorer = await _explorer(town, ada)

    explorer.explore(document, records, bodies)

    assert explorer.wrong == []
    assert explorer.codes.total() >= FEWEST[town.engine]
    assert explorer.codes[201] >= len(MAKING)
    assert explorer.codes[200] + explorer.codes[201] + explorer.codes[204] > explorer.codes.total() / 3
    assert "Traceback" not in town.log()


async def _body(maker: Maker, collection: Collection) -> dict[str, Any]:
    """What makes a record, with what it refers to made and its name left open."""
    referring = {name: value for name, value in collection.body.items() if '"/' in json.dumps(value)}
    made = await maker.body(collection, referring) if referring else {}
    return {**collection.body, **made}


async def _explorer(town: Town, ada: Person) -> Explorer:
    """With a token, which opens the door whatever a call has made of its owner's name and password."""
    answer = await ada.call("POST", f"{API}/core/tokens/", json={"expiring": False})
    pair = f"{ada.username}:{answer.json()['key']}"
    return Explorer(town, "Basic " + base64.b64encode(pair.encode()).decode())


class Explorer:
    def __init__(self, town: Town, credentials: str) -> None:
        self._town = town
        self._session = requests.Session()
        self._headers = {"Authorization": credentials}
        self.codes: Counter[int] = Counter()
        self.wrong: list[str] = []

    def explore(
        self, document: dict[str, Any], records: dict[str, list[Any]], bodies: dict[str, dict[str, Any]]
    ) -> None:
        schema = schemathesis.openapi.from_dict(document | {"security": []})  # wrong credentials are not its subject
        operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
        for operation in sorted(operations, key=lambda one: ORDER.index(one.method.upper())):
            collection, on_item, _ = operation.path.partition("{")
            known = records.get(collection, []) if on_item else []
            is_whole = operation.method.upper() != "PATCH" and operation.path.partition("}/")[2] == ""
            self._try(operation, known, bodies.get(collection, {}) if is_whole else {})
        self._session.close()

    def _try(self, operation: Any, known: list[Any], good: dict[str, Any]) -> None:
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
        @given(case=cases, place=st.integers(0, EACH - 1), strange=st.integers(0, 4))
        def run(case: Case[Any], place: int, strange: int) -> None:
            drawn, asked = case.body, dict(case.query or {})
            self._call(case)
            for way in range(1, WAYS):
                if known:
                    one = known[(place + way) % len(known)]
                    case.path_parameters = dict.fromkeys(case.path_parameters or {}, one)
                case.query = _some(asked, strange * way)
                if isinstance(drawn, dict):
                    # Good but for a few fields: all of it strange is refused before anything is tried.
                    fresh = json.loads(json.dumps(good).replace("{name}", word()))
                    case.body = fresh | _some(drawn, strange * way)
                self._call(case)

        run()

    def _call(self, case: Case[Any]) -> None:
        base_url = f"{self._town.base_url}{API}"
        answer = case.call(base_url=base_url, session=self._session, headers=self._headers)
        self.codes[answer.status_code] += 1
        try:
            case.validate_response(answer, checks=CHECKS)
        except FailureGroup as failures:
            self.wrong.append(f"{case.operation.label}: {failures}")


def _some(values: dict[str, Any], count: int) -> dict[str, Any]:
    return dict(list(values.items())[:count])
