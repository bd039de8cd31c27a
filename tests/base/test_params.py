"""Reading what clients send: one value from JSON, forms and multipart, or one clear complaint."""

from __future__ import annotations

import contextlib
import datetime as dt
import enum
import uuid
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, UnsetType

from kith.base.errors import Complaint, Invalid, Malformed, Problem
from kith.base.params import BodyLimits, Upload, fill, nest, parse_json, read_form
from kith.base.params.fill import takes_files
from kith.base.routing import FromQuery, FromRequest, get


class Visibility(enum.Enum):
    PUBLIC = "public"
    PRIVATE = "private"


class Poll(msgspec.Struct, kw_only=True):
    options: list[Annotated[str, Meta(max_length=5)]]
    expires_in: Annotated[int, Meta(ge=60, le=600)] = 60
    multiple: bool = False


class Line(msgspec.Struct, kw_only=True):
    name: str = ""
    value: str = ""


class Draft(msgspec.Struct, kw_only=True):
    status: str = ""
    media_ids: list[str] = []
    in_reply_to_id: str | None = None
    sensitive: bool | None = None
    visibility: Visibility | None = None
    kind: Literal["note", "question"] = "note"
    focus: list[float] = []
    scheduled_at: dt.datetime | None = None
    poll: Poll | None = None
    fields_attributes: list[Line] = []
    alerts: dict[str, bool] = {}


class Tree(msgspec.Struct):
    name: str
    children: list[Tree] = []


# nested names


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", {}),
        ("a=1", {"a": "1"}),
        ("a=1&a=2", {"a": "2"}),
        ("a", {"a": ""}),
        ("=1&&b=2", {"b": "2"}),
        ("a=x=y", {"a": "x=y"}),
        ("a+b=c+d", {"a b": "c d"}),
        ("a=caf%C3%A9%2B", {"a": "café+"}),
        ("a=café", {"a": "café"}),
        ("id[]=1&id[]=2", {"id": ["1", "2"]}),
        ("id%5B%5D=1", {"id": ["1"]}),
        ("poll[options][]=a&poll[options][]=b&poll[x]=1", {"poll": {"options": ["a", "b"], "x": "1"}}),
        ("f[0][name]=n&f[1][name]=m", {"f": {"0": {"name": "n"}, "1": {"name": "m"}}}),
        ("a[][x]=1&a[][y]=2&a[][x]=3", {"a": [{"x": "1", "y": "2"}, {"x": "3"}]}),
        ("a[][x][]=1&a[][x][]=2&a[][y]=3", {"a": [{"x": ["1", "2"], "y": "3"}]}),
        ("a[][b][c]=1&a[][b][d]=2&a[][b][c]=3", {"a": [{"b": {"c": "1", "d": "2"}}, {"b": {"c": "3"}}]}),
        ("a[][]=1&a[][]=2", {"a": [["1"], ["2"]]}),
        ("s[keys][auth]=k", {"s": {"keys": {"auth": "k"}}}),
        ("a[b]=1&a[b]=2", {"a": {"b": "2"}}),
        ("a[b=1&a]b[=2&[c]=3&a[b]c=4", {"a[b": "1", "a]b[": "2", "[c]": "3", "a[b]c": "4"}),
    ],
)
def test_bracketed_names_nest(raw: str, expected: dict[str, Any]) -> None:
    assert read_form(raw.encode()) == expected


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"a=1&a[b]=2", "two different shapes"),
        (b"a[b]=2&a=1", "two different shapes"),
        (b"a[]=1&a[b]=2", "two different shapes"),
        (b"a[b]=1&a[]=2", "two different shapes"),
        (b"a[]=1&a=2", "two different shapes"),
        (b"a[b]=1&a[b][c]=2", "two different shapes"),
        (b"a[][x]=1&a[][x][y]=2", "two different shapes"),
        (b"a" + b"[b]" * 8 + b"=1", "deeper than 8"),
        (b"a" * 257 + b"=1", "longer than 256"),
        (b"&".join([b"a=1"] * 1001), "more than 1000"),
        (b"a=%FF", "UTF-8"),
        (b"a=\xff", "UTF-8"),
        (b"a=%ED%A0%80", "UTF-8"),
        (b"a=%0", "percent"),
        (b"a=100%", "percent"),
        (b"a=%zz", "percent"),
        (b"a=%00", "NUL"),
        (b"a%00=1", "NUL"),
        (b"a=\0", "NUL"),
    ],
)
def test_unreadable_parameters_are_refused_in_clear_words(raw: bytes, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        read_form(raw)


def test_limits_can_be_chosen() -> None:
    limits = BodyLimits(depth=2, count=2, name_length=4)
    assert nest([("a[b]", "1"), ("c", "2")], limits) == {"a": {"b": "1"}, "c": "2"}
    for pairs in ([("a[][]", "1")], [("a", "1")] * 3, [("abcde", "1")]):
        with pytest.raises(Malformed):
            nest(pairs, limits)


# JSON


@pytest.mark.parametrize("raw", [b"", b" \n", b"{}"])
def test_an_empty_body_is_an_empty_object(raw: bytes) -> None:
    assert parse_json(raw) == {}


@pytest.mark.parametrize(
    "raw",
    [
        b"[]",
        b"1",
        b"null",
        b'"text"',
        b"{",
        b'{"a":NaN}',
        b'{"a":1e400}',
        b'{"a":' + b"1" * 5000 + b"}",
        b'{"a":"\xff"}',
        b'{"\xff":1}',
        b'{"a":"\\ud800"}',
        b"[" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"a":' * 9 + b"1" + b"}" * 9,
        b'{"b":[],"a":' + b"[" * 8 + b"]" * 8 + b"}",
    ],
)
def test_json_that_is_no_shallow_object_is_refused(raw: bytes) -> None:
    with pytest.raises(Malformed):
        parse_json(raw)


def test_json_may_be_as_deep_as_the_limit_and_wide() -> None:
    assert parse_json(b'{"a":' * 8 + b"1" + b"}" * 8)
    assert len(parse_json(b'{"a":[' + b"[1]," * 500 + b"[1]]}")["a"]) == 501


# filling


class Everything(msgspec.Struct, kw_only=True):
    text: str = "t"
    text_or_none: str | None = None
    short: Annotated[str, Meta(min_length=2, max_length=3)] = "ab"
    word: Annotated[str, Meta(pattern="^[a-z]+$")] = "w"
    whole: int = 7
    whole_or_none: int | None = None
    even: Annotated[int, Meta(gt=0, lt=10, multiple_of=2)] = 2
    real: float = 0.5
    flag: bool = False
    flag_or_none: bool | None = None
    patch: str | UnsetType | None = UNSET
    patch_strict: int | UnsetType = UNSET
    choice: Literal["a", "b", 3] = "a"
    choice_blank: Literal["", "x"] | None = None
    visibility: Visibility = Visibility.PUBLIC
    at: dt.datetime | None = None
    day: dt.date | None = None
    key: uuid.UUID | None = None
    ids: list[str] = []
    numbers: list[int] = []
    gaps: list[int | None] = []
    few: Annotated[list[int], Meta(max_length=2)] = []
    unique: set[int] = set()
    fixed: tuple[int, ...] = ()
    words: dict[str, int] = {}
    anything: Any = None
    either: int | str = 0
    line: Line | None = None
    lines: list[Line] = []
    file: Upload | None = None


def at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("field", "sent", "expected"),
    [
        ("text", "x", "x"), ("text", "", ""), ("text", None, "t"), ("text", 5, "5"), ("text", 1.5, "1.5"),
        ("text_or_none", "", ""), ("text_or_none", None, None), ("short", "abc", "abc"),
        ("word", "ab", "ab"),
        ("whole", 5, 5), ("whole", "5", 5), ("whole", " -5 ", -5), ("whole", "+5", 5), ("whole", "5.0", 5),
        ("whole", 5.0, 5), ("whole", "", 7), ("whole", None, 7), ("whole", str(2**63 - 1), 2**63 - 1),
        ("whole_or_none", "", None), ("whole_or_none", None, None), ("whole_or_none", "0", 0),
        ("even", "8", 8), ("real", "1.5", 1.5), ("real", "-.5e1", -5.0), ("real", 2, 2.0),
        ("real", "3.", 3.0),
        ("real", "", 0.5),
        *[("flag", word, True) for word in (True, 1, "true", "1", "on", "t", "T", "TRUE", "ON", "yes", "y")],
        *[("flag", word, False) for word in (False, 0, "false", "0", "f", "F", "off", "OFF", "FALSE", "no")],
        ("flag_or_none", "", None), ("flag_or_none", None, None), ("flag_or_none", "false", False),
        ("patch", "x", "x"), ("patch", None, None), ("patch", "", ""), ("patch_strict", None, UNSET),
        ("patch_strict", "", UNSET), ("patch_strict", "4", 4), ("choice", "b", "b"), ("choice", "3", 3),
        ("choice", 3, 3), ("choice", "", "a"), ("choice_blank", "", ""), ("choice_blank", None, None),
        ("visibility", "private", Visibility.PRIVATE), ("visibility", "", Visibility.PUBLIC),
        ("at", "2020-01-02T03:04:05Z", at("2020-01-02T03:04:05+00:00")), ("at", "", None),
        ("at", "2020-01-02T03:04:05", at("2020-01-02T03:04:05+00:00")),
        ("at", "2020-01-02T03:04:05.5+02:00", at("2020-01-02T01:04:05.5+00:00")),
        ("day", "2020-01-02", dt.date(2020, 1, 2)), ("day", "", None),
        ("key", "{12345678123456781234567812345678}", uuid.UUID("12345678-1234-5678-1234-567812345678")),
        ("ids", ["1", 2], ["1", "2"]), ("ids", "1", ["1"]), ("ids", 1, ["1"]), ("ids", None, []),
        ("ids", "", []),
        ("ids", {"10": "c", "2": "b", "0": "a"}, ["a", "b", "c"]), ("ids", {}, []), ("ids", [""], [""]),
        ("numbers", ["1", "", 2], [1, 2]), ("numbers", [""], []), ("gaps", ["", None, "1"], [None, None, 1]),
        ("unique", ["1", 1, 2], {1, 2}), ("fixed", ["1"], (1,)), ("words", {"a": "1"}, {"a": 1}),
        ("anything", {"a": [1, None, "x"]}, {"a": [1, None, "x"]}), ("anything", None, None),
        ("either", "5", 5), ("either", "x", "x"), ("line", {"name": "n", "other": 1}, Line(name="n")),
        ("line", "", None), ("lines", {"name": "n"}, [Line(name="n")]), ("file", "", None),
        ("lines", {"1": {"name": "b"}, "0": {"name": "a"}}, [Line(name="a"), Line(name="b")]),
    ],
)  # fmt: skip
def test_what_clients_write_is_understood(field: str, sent: object, expected: object) -> None:
    found = getattr(fill(Everything, {field: sent}), field)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("field", "sent", "place", "code"),
    [
        ("text", "a\0", "text", "invalid"), ("text", "\ud800", "text", "invalid"),
        ("text", True, "text", "not_text"), ("text", [], "text", "not_text"),
        ("text", {}, "text", "not_text"),
        ("text", float("nan"), "text", "not_text"), ("text", 10**30, "text", "not_text"),
        ("short", "", "short", "empty"), ("short", "a", "short", "too_short"),
        ("short", "abcd", "short", "too_long"), ("word", "A", "word", "invalid"),
        ("whole", "x", "whole", "not_an_integer"), ("whole", "1_0", "whole", "not_an_integer"),
        ("whole", "٥", "whole", "not_an_integer"), ("whole", True, "whole", "not_an_integer"),
        ("whole", 1.5, "whole", "not_an_integer"), ("whole", "1" * 1001, "whole", "not_an_integer"),
        ("whole", 2**63, "whole", "out_of_range"), ("whole", str(-(2**63) - 1), "whole", "out_of_range"),
        ("whole", float("inf"), "whole", "not_an_integer"), ("whole", [1], "whole", "not_an_integer"),
        ("even", 0, "even", "too_small"), ("even", 10, "even", "too_big"), ("even", 3, "even", "invalid"),
        ("real", "nan", "real", "not_a_number"), ("real", "Infinity", "real", "not_a_number"),
        ("real", "1e999", "real", "out_of_range"), ("real", float("nan"), "real", "out_of_range"),
        ("real", True, "real", "not_a_number"), ("real", 10**400, "real", "not_a_number"),
        ("flag", "maybe", "flag", "not_a_boolean"), ("flag", 2, "flag", "not_a_boolean"),
        ("flag", [True], "flag", "not_a_boolean"), ("choice", "c", "choice", "inclusion"),
        ("choice", ["a"], "choice", "inclusion"), ("visibility", "PUBLIC", "visibility", "inclusion"),
        ("at", "yesterday", "at", "not_a_time"), ("at", 5, "at", "not_a_time"),
        ("at", "0001-01-01T00:00:00+10:00", "at", "not_a_time"), ("day", "2020-13-01", "day", "not_a_date"),
        ("key", "x", "key", "not_a_uuid"), ("numbers", [1, None], "numbers.1", "null"),
        ("numbers", ["1", "x"], "numbers.1", "not_an_integer"), ("few", [1, 2, 3], "few", "too_many"),
        ("words", [1], "words", "not_an_object"), ("words", {"a": "x"}, "words.a", "not_an_integer"),
        ("words", {"a": ""}, "words.a", "empty"), ("words", {"\0": 1}, "words.\0", "invalid"),
        ("words", {"\ud800": 1}, "words.?", "invalid"), ("anything", {"a": ["\0"]}, "anything", "invalid"),
        ("anything", [float("inf")], "anything", "out_of_range"), ("line", "x", "line", "not_an_object"),
        ("line", {"name": []}, "line.name", "not_text"),
        ("lines", [{}, {"value": {}}], "lines.1.value", "not_text"),
        ("file", "x", "file", "not_a_file"), ("text", Upload("f", ""), "text", "not_text"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_named(field: str, sent: object, place: str, code: str) -> None:
    with pytest.raises(Invalid) as caught:
        fill(Everything, {field: sent})
    assert list(caught.value.fields) == [place]
    [complaint] = caught.value.fields[place]
    assert isinstance(complaint, Complaint)
    assert complaint.code == code
    assert place.encode()


def test_choices_are_listed() -> None:
    with pytest.raises(Invalid) as caught:
        fill(Draft, {"visibility": "secret", "kind": "x"})
    assert caught.value.fields == {
        "visibility": ["must be one of: public, private"],
        "kind": ["must be one of: note, question"],
    }


def test_every_bad_field_is_named_at_once() -> None:
    with pytest.raises(Invalid) as caught:
        fill(
            Draft,
            {"poll": {"options": ["fine", "too long"], "expires_in": 5}, "sensitive": "maybe", "status": []},
        )
    assert set(caught.value.fields) == {"poll.options.1", "poll.expires_in", "sensitive", "status"}


@pytest.mark.parametrize(("raw", "code"), [({}, "blank"), ({"name": None}, "null")])
def test_a_required_field_cannot_be_left_out(raw: dict[str, Any], code: str) -> None:
    with pytest.raises(Invalid) as caught:
        fill(Tree, raw)
    [complaint] = caught.value.fields["name"]
    assert complaint == "can't be blank"
    assert isinstance(complaint, Complaint)
    assert complaint.code == code


def test_a_struct_may_hold_its_own_kind_and_rename_fields() -> None:
    class Renamed(msgspec.Struct, rename="camel"):
        long_name: int

    assert fill(Tree, {"name": "a", "children": [{"name": "b"}]}) == Tree("a", [Tree("b")])
    assert fill(Renamed, {"longName": "1"}) == Renamed(1)


def test_defaults_are_not_shared() -> None:
    fill(Draft, {}).media_ids.append("1")
    assert fill(Draft, {}).media_ids == []


def test_a_flood_of_bad_elements_gets_a_short_answer() -> None:
    with pytest.raises(Invalid) as caught:
        fill(Everything, {"numbers": ["x"] * 10_000})
    assert len(caught.value.fields) == 100


def test_a_type_no_client_can_fill_is_found_when_the_route_is_made() -> None:
    class Impossible(msgspec.Struct):
        raw: bytes

    for place in (FromRequest, FromQuery):

        async def take(raw: Any) -> None: ...

        take.__annotations__["raw"] = place[Impossible]
        with pytest.raises(TypeError):
            get("/impossible")(take)


class Gallery(msgspec.Struct):
    images: list[Upload] = []


class Album(msgspec.Struct):
    gallery: Gallery | None = None


def test_places_for_files_are_found_wherever_they_stand() -> None:
    assert [takes_files(kind) for kind in (Gallery, Album, Everything, Draft, Tree)] == [True] * 3 + [False] * 2


# properties

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
moments = st.datetimes(
    dt.datetime(1900, 1, 1),  # noqa: DTZ001
    dt.datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.just(dt.UTC),
)
drafts = st.builds(
    Draft,
    status=text,
    media_ids=st.lists(text, max_size=3),
    in_reply_to_id=st.none() | text,
    sensitive=st.none() | st.booleans(),
    visibility=st.none() | st.sampled_from(Visibility),
    kind=st.sampled_from(["note", "question"]),
    focus=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=2),
    scheduled_at=st.none() | moments,
    poll=st.none()
    | st.builds(
        Poll,
        options=st.lists(st.text("abc é&=[]%+", max_size=5), min_size=1, max_size=3),
        expires_in=st.integers(60, 600),
        multiple=st.booleans(),
    ),
    fields_attributes=st.lists(st.builds(Line, name=text, value=text), max_size=12),
    alerts=st.dictionaries(st.text("abc é&=%+", min_size=1, max_size=4), st.booleans(), max_size=3),
)


def form_pairs(value: object, name: str = "") -> list[tuple[str, str]]:
    """Write nested values as a form does: texts of a list with `[]`, its objects with their index."""
    if isinstance(value, dict):
        return [pair for key, inner in value.items() for pair in form_pairs(inner, f"{name}[{key}]" if name else key)]
    if isinstance(value, list):
        if any(isinstance(inner, dict) for inner in value):
            return form_pairs({str(index): inner for index, inner in enumerate(value)}, name)
        return [pair for inner in value for pair in form_pairs(inner, f"{name}[]")]
    if value is None:
        return []
    if isinstance(value, bool):
        return [(name, "true" if value else "false")]
    return [(name, str(value))]


@given(drafts)
def test_json_and_form_mean_the_same(draft: Draft) -> None:
    plain = msgspec.to_builtins(draft)
    assert fill(Draft, parse_json(msgspec.json.encode(draft))) == draft
    assert fill(Draft, read_form(urlencode(form_pairs(plain)).encode())) == draft


@given(
    st.binary() | st.lists(st.sampled_from([*"ab=&[]%+0", "%C3", "%A9", "%00", "é"])).map(lambda s: "".join(s).encode())
)
def test_no_form_breaks_the_reader(raw: bytes) -> None:
    for read in (read_form, parse_json):
        with contextlib.suppress(Problem):
            read(raw)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["", "1", "1e999"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(Everything.__struct_fields__), values, max_size=6))
def test_no_value_breaks_the_filler(raw: dict[str, Any]) -> None:
    fields: dict[str, list[str]] = {"": ["fine"]}
    try:
        fill(Everything, raw)
    except Invalid as error:
        fields = error.fields
    assert msgspec.json.encode({place: len(words) for place, words in fields.items()}) != b"{}"
