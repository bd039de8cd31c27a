"""Whatever JSON a client may send: it is taken or refused by name, never half taken, and never our mistake."""

from __future__ import annotations

import json
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.identity.record_maker import API, BY_PATH, Maker, word
from tests.identity.records import make, new_name, owner_of
from tests.modes import sized
from tests.town import Person, Town
from tests.town.plain import PLAIN

PATHS = (
    "/core/users/",
    "/core/groups/",
    "/core/tokens/",
    "/core/applications/",
    "/flows/instances/",
    "/policies/password/",
    "/policies/bindings/",
    "/providers/openid/",
    "/sources/ldap/",
    "/stages/prompt/prompts/",
)
BESIDE = {"non_field_errors", "detail"}
JSON = {"content-type": "application/json"}
GOOD = {200, 201}
REFUSED = {400, 409}

examine = settings(
    max_examples=sized(10, 30),
    database=None,
    derandomize=True,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3, 70_000)
words = st.sampled_from(
    [
        "true",
        "5",
        "5.0",
        "-1",
        "",
        " ",
        "hours=1",
        "https://x.example/",
        "a@x.org",
        "00000000-0000-4000-8000-000000000000",
    ]
)
leaves = st.none() | st.booleans() | numbers | texts | words
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=8
)


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


class Desk:
    """One collection, spoken to without a loop: Hypothesis knows none."""

    def __init__(self, town: Town, ada: Person, path: str, fields: list[str]) -> None:
        self.url = API + path
        self.fields = fields
        self.http = httpx.Client(base_url=town.base_url, auth=(ada.username, ada.password), timeout=120, verify=PLAIN)

    def read(self, url: str) -> dict[str, Any]:
        found: dict[str, Any] = self.http.get(url).json()
        return found

    def count(self) -> int:
        return int(self.read(f"{self.url}?limit=1")["count"])

    def check(self, answer: httpx.Response, sent: dict[str, Any]) -> None:
        assert answer.status_code in GOOD | REFUSED, (sent, answer.text)
        if answer.status_code == 400:
            assert set(answer.json()) <= {*self.fields, *BESIDE}, (sent, answer.text)

    def bodies(self) -> st.SearchStrategy[dict[str, Any]]:
        return st.dictionaries(st.sampled_from(self.fields) | texts, values, max_size=8)


@pytest.fixture
async def desk(request: pytest.FixtureRequest, town: Town, ada: Person) -> Any:
    path: str = request.param
    schemas = msgspec.json.decode((await town.http.get(f"{API}/openapi.json")).content)["components"]["schemas"]
    found = Desk(town, ada, path, sorted(schemas[BY_PATH[path].record]["properties"]))
    yield found
    found.http.close()


each = pytest.mark.parametrize("desk", PATHS, indirect=True)


@each
async def test_any_body_makes_a_record_or_is_refused_by_name(ada: Person, desk: Desk) -> None:
    good = await Maker(ada).body(BY_PATH[desk.url.removeprefix(API)])

    @examine
    @given(desk.bodies(), st.booleans())
    def post(strange: dict[str, Any], with_good: bool) -> None:
        before = desk.count()
        body = _fresh(good) | strange if with_good else strange
        answer = desk.http.post(desk.url, json=body)
        desk.check(answer, body)
        assert desk.count() == before + (answer.status_code == 201)

    post()


def _fresh(body: dict[str, Any]) -> dict[str, Any]:
    return {name: word() if isinstance(value, str) and value.startswith("w") else value for name, value in body.items()}


@each
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_any_body_changes_a_record_or_leaves_all_of_it(ada: Person, desk: Desk, method: str) -> None:
    made = await Maker(ada).make(BY_PATH[desk.url.removeprefix(API)])
    item = f"{desk.url}{made['pk']}/"

    @examine
    @given(desk.bodies(), st.booleans())
    def change(strange: dict[str, Any], with_good: bool) -> None:
        before = desk.read(item)
        body = before | strange if with_good else strange
        answer = desk.http.request(method, item, json=body)
        desk.check(answer, body)
        after = desk.read(item)
        if answer.status_code == 200:
            assert _but_secrets(after) == _but_secrets(answer.json())
            assert after["pk"] == before["pk"]
        else:
            assert after == before

    change()


@pytest.mark.parametrize("desk", ["/core/groups/", "/core/tokens/"], indirect=True)
async def test_what_is_not_an_object_is_refused_and_changes_nothing(ada: Person, desk: Desk) -> None:
    before = desk.count()

    @examine
    @given(leaves | st.lists(values, max_size=4))
    def post(anything: Any) -> None:
        answer = desk.http.post(desk.url, content=json.dumps(anything), headers=JSON)
        assert (answer.status_code, set(answer.json())) == (400, {"non_field_errors"}), answer.text

    @examine
    @given(st.binary(max_size=60))
    def post_bytes(anything: bytes) -> None:
        answer = desk.http.post(desk.url, content=b"\xff" + anything, headers=JSON)
        assert (answer.status_code, set(answer.json())) == (400, {"detail"}), answer.text

    post()
    post_bytes()
    assert desk.count() == before


@each
async def test_read_only_and_unknown_fields_are_passed_over(ada: Person, desk: Desk) -> None:
    collection = BY_PATH[desk.url.removeprefix(API)]
    wished: dict[str, Any] = {
        "pk": 4_000_000 if collection.key_type is int else "11111111-1111-4111-8111-111111111111",
        "created": "2001-01-01T00:00:00Z",
        "last_updated": "2001-01-01T00:00:00Z",
        "created_at": "2001-01-01T00:00:00Z",
        "kind": "other",
        "__type__": "other",
        "key_hash": "0" * 64,
        "key": "kith_mine",
        "role": "owner",
        "username_key": "x",
        "uuid": "11111111-1111-4111-8111-111111111111",
        "uid": "x",
        "children": ["x"],
        "policies": ["x"],
        "date_joined": "2001-01-01T00:00:00Z",
        "last_login": "2001-01-01T00:00:00Z",
        "password_change_date": "2001-01-01T00:00:00Z",
        "last_used": "2001-01-01T00:00:00Z",
        "nonsense": {"a": [1]},
        "pbm_uuid": "11111111-1111-4111-8111-111111111111",
        "is_staff": True,
        "identity_users": [1],
    }
    wished[collection.key] = wished["pk"]
    if desk.url.endswith("/users/"):
        wished["is_superuser"] = True

    made = desk.http.post(desk.url, json=await Maker(ada).body(collection) | wished)
    assert made.status_code == 201, made.text
    item = f"{desk.url}{made.json()['pk']}/"
    changed = desk.http.patch(item, json=wished)

    assert changed.status_code == 200, changed.text
    for record in (made.json(), changed.json(), desk.read(item)):
        assert not {name for name, value in wished.items() if name in record and record[name] == value}
    assert made.json()["pk"] == changed.json()["pk"]
    assert {"key_hash", "nonsense", "role", "created_at", "username_key"}.isdisjoint(changed.json())


# How values are read

STRANGE: list[Any] = [True, "five", "5.5", 5.5, "", [], {}, None, "٥", "0x5", "5e0"]
NO_NUMBER: list[tuple[Any, None]] = [(one, None) for one in (*STRANGE, 2147483648, "-2147483649", "9" * 1001)]
YES: list[Any] = [True, "true", "True", "TRUE", "t", "y", "yes", "on", "1", 1]
NO: list[Any] = [False, "false", "False", "f", "n", "no", "off", "0", 0]
NEITHER: list[Any] = [None, "", "maybe", 2, 1.0, [], {}, "٠"]


async def test_texts_are_trimmed_but_for_those_that_must_not_be(town: Town, ada: Person) -> None:
    name, padded = new_name("trimmed"), "  return True \n"

    made = await make(ada, "/core/groups/", name=f" \t{name}\n ")
    policy = await make(ada, "/policies/expression/", name=f" {new_name('p')} ", expression=padded)
    person = await make(ada, "/core/users/", username=f" {new_name('u')} ", name=" N ", password="  spaces count  ")

    assert made["name"] == name
    assert policy["expression"] == padded
    assert person["name"] == "N"
    me = f"{API}/core/users/me/"
    assert (await Person(town.http, person["username"], "  spaces count  ").get(me)).status_code == 200
    assert (await Person(town.http, person["username"], "spaces count").get(me)).status_code == 401
    for blank in ("", " ", "\u2003\u00a0", "\t\n"):
        answer = await ada.call("POST", f"{API}/core/groups/", json={"name": blank})
        assert answer.json() == {"name": ["This field may not be blank."]}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [(5, 5), ("5", 5), (" 5 ", 5), ("5.0", 5), (5.0, 5), ("+5", 5), ("-5", -5), ("2147483647", 2147483647), *NO_NUMBER],
)
async def test_numbers_may_come_as_text_and_nothing_else_may(ada: Person, sent: object, kept: int | None) -> None:
    answer = await ada.call("POST", f"{API}/policies/reputation/", json={"name": new_name("p"), "threshold": sent})

    if kept is None:
        assert (answer.status_code, set(answer.json())) == (400, {"threshold"})
    else:
        assert (answer.status_code, answer.json()["threshold"]) == (201, kept)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [*((one, True) for one in YES), *((one, False) for one in NO), *((one, None) for one in NEITHER)],
)
async def test_yes_and_no_have_many_spellings(ada: Person, sent: object, kept: bool | None) -> None:
    answer = await ada.call("POST", f"{API}/policies/dummy/", json={"name": new_name("p"), "result": sent})

    if kept is None:
        assert (answer.status_code, set(answer.json())) == (400, {"result"})
    else:
        assert (answer.status_code, answer.json()["result"]) == (201, kept)


@pytest.mark.parametrize("sent", [5, 1.5, -3])
async def test_a_number_will_do_for_a_text(ada: Person, sent: float) -> None:
    made = await make(ada, "/core/applications/", name=sent, slug=word())

    assert made["name"] == str(sent)


async def test_every_text_comes_back_as_it_was_sent(town: Town, ada: Person) -> None:
    group = await make(ada, "/core/groups/", name=new_name("g"))
    item = f"{API}/core/groups/{group['pk']}/"

    with httpx.Client(base_url=town.base_url, auth=(ada.username, ada.password), timeout=120, verify=PLAIN) as http:

        @settings(examine, max_examples=150)
        @given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=80))
        def rename(name: str) -> None:
            answer = http.patch(item, json={"name": name, "attributes": {name: [name]}})
            if name.strip():
                assert (answer.status_code, answer.json()["name"]) == (200, name.strip()), answer.text
                assert http.get(item).json()["attributes"] == {name: [name]}
            else:
                assert answer.status_code == 400

        rename()


@pytest.mark.parametrize(
    ("path", "field", "value"),
    [
        ("/core/users/", "username", "\ufdfa" * 150),
        ("/core/users/", "email", "İ" * 130 + "@x.example"),
        ("/core/users/", "email", "a@" + ".".join(["ü" * 45] * 5)),
        ("/core/users/", "name", "".join(chr(0x20000 + n) for n in range(501))),
        ("/core/users/", "path", "a//b"),
        ("/core/users/", "type", "internal_service_account"),
        ("/core/groups/", "name", "\U0001f600" * 81),
        ("/providers/applicationgateway/", "external_host", "a" * 500),
        ("/providers/applicationgateway/", "external_host", "x\x06.example"),
        ("/sources/oauth/", "profile_url", "https://x.example/%zz"),
        ("/sources/oauth/", "profile_url", "https://\x7f.example/"),
        ("/sources/oauth/", "profile_url", "https://" + "ü" * 240),
        ("/core/applications/", "meta_launch_url", "javascript:alert(1)"),
    ],
)
async def test_what_grows_when_it_is_kept_is_measured_before(ada: Person, path: str, field: str, value: str) -> None:
    answer = await ada.call("POST", API + path, json=await Maker(ada).body(BY_PATH[path]) | {field: value})

    assert (answer.status_code, set(answer.json())) == (400, {field}), answer.text


@pytest.mark.parametrize(
    ("path", "field", "value", "kept"),
    [
        ("/core/users/", "username", "Zoë_日本", "Zoë_日本"),
        ("/core/users/", "name", "".join(chr(0x20000 + n) for n in range(500)), None),
        ("/core/users/", "email", "zoë@müller.example", None),
        ("/core/groups/", "name", "\U0001f600" * 70, None),
        (
            "/sources/oauth/",
            "profile_url",
            "https://müller.example/ü?a=ü",
            "https://xn--mller-kva.example/%C3%BC?a=%C3%BC",
        ),
        ("/sources/oauth/", "profile_url", "https://[::1]:8080/a%20b", None),
    ],
)
async def test_letters_of_every_script_are_welcome(
    ada: Person, path: str, field: str, value: str, kept: str | None
) -> None:
    unique = {"username": value + word(), "name": value} if field == "username" else {field: value}
    body = await Maker(ada).body(BY_PATH[path]) | unique

    answer = await ada.call("POST", API + path, json=body)

    assert answer.status_code == 201, answer.text
    assert answer.json()[field].startswith(kept or value)
    await ada.call("DELETE", f"{API}{path}{answer.json()['pk']}/")


def _but_secrets(record: dict[str, Any]) -> dict[str, Any]:
    """A secret is in the answer that made or changed it, and not in every other."""
    return {name: value for name, value in record.items() if name != "client_secret"}
