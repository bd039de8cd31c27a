"""Blueprints as text: what is read, what is refused, and what comes of tags."""

from __future__ import annotations

import asyncio
import contextlib
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kith.identity.blueprints.evaluation import Evaluation
from kith.identity.blueprints.outside import OutsideValues
from kith.identity.blueprints.reading import FROM_API, Blueprint, ReadLimits, read_blueprint
from kith.identity.blueprints.sealed import FileSealer
from kith.identity.blueprints.tags import BadBlueprint

SMALL = ReadLimits(bytes=10_000, values=2_000)
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(8)
)
REFUSED = {
    "": "a mapping",
    "- a": "a mapping",
    "version: 2": "version",
    "entries: {a: b}": "must be a list",
    "entries: [{}]": "needs a `model`",
    "entries: [{model: core.group, state: gone}]": "must be one of",
    "entries: [{model: core.group, colour: red}]": "has no `colour`",
    "entries: [{model: core.group, attrs: [a]}]": "must be a mapping",
    "entries: [{model: a.b, id: x}, {model: a.b, id: x}]": "have the id 'x'",
    "entries: [{model: core.group, attrs: {a: 1, a: 2}}]": "twice",
    "entries: [{model: core.group, attrs: {a: !!python/object:os.system x}}]": "not known",
    "entries: [{model: core.group, attrs: {a: !Exec x}}]": "tag !Exec is not known",
    "entries: [{model: core.group, attrs: {a: !KeyOf [a, b]}}]": "takes the id of an entry",
    "entries: [{model: core.group, attrs: {a: !Find [core.group]}}]": "takes [model,",
    "entries: [{model: core.group, attrs: {a: !If [1, 2]}}]": "takes [condition",
    "entries: [{model: core.group, attrs: {a: !Condition [MAYBE, 1]}}]": "takes [AND",
    "entries: [{model: core.group, attrs: {a: !Enumerate [[], MAP, [a]]}}]": "takes [items",
    "entries: [{model: core.group, attrs: {a: .nan}}]": "no number",
    "entries: [{model: core.group, attrs: {a: 0xFFFFFFFFFFFFFFFF}}]": "no number",
    "context: {a: 1" + ":1" * 100 + "}": "too long",
    "entries: [{model: core.group, attrs: {<<: {a: 1}}}]": "`<<`",
    "a: [": "not YAML",
    "a: \x00": "not YAML",
    "context: &a {b: *a}": "lead to themselves",
    "context: " + "[" * 60 + "]" * 60: "nested too deeply",
    BOMB: "aliases that lead",
    "context: {a: &x [1], b: [" + "*x," * 201 + "]}": "more than 200 aliases",
    "context: {a: '" + "x" * 10_001 + "'}": "larger",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:30])
def test_what_is_no_blueprint_is_refused_with_words(text: str) -> None:
    with pytest.raises(BadBlueprint, match=r".") as refused:
        read_blueprint(text, SMALL)

    assert REFUSED[text] in str(refused.value)


PIECES = st.sampled_from(
    (
        "entries:", "- model: core.group", "  attrs:", "    a: ", "!Find [a, [b, c]]", "!KeyOf x", "!If [", "]", "{",
        "&a ", "*a", "!Enumerate [", "!Index 0", "!Value 1", "- ", "  ", "\n", "\n  ", ": ", "1e999", "2020-01-01", "'",
        "!Format ['%s', ", "!!int ", "0x", "1:60:60", "|\n", ">", "%", "!Env X", "!File ../../etc/passwd", "? ", "\t", "}",
    )
)  # fmt: skip


@given(st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=200), st.binary(max_size=200)))
@settings(max_examples=400)
def test_whatever_is_sent_is_read_or_refused(text: str | bytes) -> None:
    try:
        found = read_blueprint(text, SMALL)
    except BadBlueprint:
        return
    assert isinstance(found, Blueprint)
    outside = OutsideValues(Path("/nonexistent"), is_open=False, environment={})
    for entry in found.entries:
        with contextlib.suppress(BadBlueprint):
            asyncio.run(Evaluation(found.context, outside, {}, None).value([entry.attrs, entry.identifiers]))


FEW_STEPS = 100_000  # of a blueprint: a limit that is reached soon is one all the same


def evaluated(text: str, *, is_open: bool = False, folder: Path = Path("/nonexistent"), **context: Any) -> Any:
    given = read_blueprint(f"entries: [{{model: a.b, attrs: {{x: {text}}}}}]", FROM_API).entries[0].attrs["x"]
    outside = OutsideValues(folder, is_open=is_open, environment={"KITH_BLUEPRINT_A": "ours", "HOME": "theirs"})
    return asyncio.run(Evaluation(context, outside, {}, None, FEW_STEPS).value(given))


WORKED_OUT = {
    "!Context a": 1,
    "!Context [b, 2]": 2,
    "!Context nothing": None,
    "!Env KITH_BLUEPRINT_A": "ours",
    "!Env [KITH_BLUEPRINT_B, other]": "other",
    "!Format ['%s-%d-%%', !Context a, 5]": "1-5-%",
    "!If [!Context a, yes it is, no]": "yes it is",
    "!If [!Context nothing, 1, 2]": 2,
    "!Condition [AND, true, !Context a]": True,
    "!Condition [NAND, true, true]": False,
    "!Condition [OR, false, 0]": False,
    "!Condition [NOR, false, 0]": True,
    "!Condition [XOR, true, false]": True,
    "!Condition [XNOR, true, false]": False,
    "!Enumerate [!Context list, SEQ, !Format ['%s:%s', !Index 0, !Value 0]]": ["0:p", "1:q"],
    "!Enumerate [!Context map, MAP, [!Value 0, !Index 0]]": {"v": "k"},
    "!Enumerate [[1, 2], SEQ, !Enumerate [[3], SEQ, [!Value 1, !Value 0]]]": [[[1, 3]], [[2, 3]]],
    "!AtIndex [!Context list, 1]": "q",
    "!AtIndex [!Context map, k]": "v",
    "!AtIndex [!Context map, z, none]": "none",
    "2020-01-31": "2020-01-31",
    "!File [missing.txt, instead]": "instead",
}


@pytest.mark.parametrize("text", WORKED_OUT)
def test_tags_are_worked_out(text: str) -> None:
    found = evaluated(text, a=1, list=["p", "q"], map={"k": "v"})

    assert found == WORKED_OUT[text]


def _grown() -> list[str]:
    """Texts in which a list holds the one before it many times, a dozen times over: small to write, endless to read."""
    bodies = {
        "values of a list": "!Enumerate [[{}], SEQ, [{}]]",
        "names of a mapping": "!Enumerate [{{a: {}}}, MAP, [k, [{}]]]",
        "one of a list": "!AtIndex [!Enumerate [[{}], SEQ, [{}]], 0]",
        "if": "!Enumerate [[{}], SEQ, !If [true, [{}], 0]]",
    }
    found = []
    for body in bodies.values():
        text = "[1]"
        for _ in range(9):
            text = body.format(text, ", ".join(["!Value 0"] * 40))
        found += [text, f"!Format ['%s', {text}]"]
    return found


NOT_WORKED_OUT = {
    "!Env HOME": "only variables that begin with KITH_BLUEPRINT_",
    "!File /etc/passwd": "only files below",
    "!File ../secret": "only files below",
    "!File missing.txt": "cannot be read",
    "!KeyOf nobody": "no entry before",
    "!Index 0": "no !Enumerate",
    "!AtIndex [!Context list, 9]": "nothing at",
    "!Format ['%999999999d', 1]": "knows %s",
    "!Format ['%s %s', 1]": "do not fit",
    "!Format ['%s', 1, 2]": "more values",
    "!Format ['%d', x]": "do not fit",
    "!Sealed kith1:abc": "only be the value of a field",
    "!Enumerate [7, SEQ, 1]": "a list or a mapping",
    "!Enumerate [!Context big, SEQ, !Enumerate [!Context big, SEQ, !Enumerate [!Context big, SEQ, 1]]]": "too much",
    "!Context loop": "too deep",
    f"!Format ['{'%s' * 5}', {', '.join(['!Context long'] * 5)}]": "too long",
    f"[{', '.join(['!Context long'] * 300)}]": "too much",
    **dict.fromkeys(_grown(), "too much"),
}


@pytest.mark.parametrize("text", NOT_WORKED_OUT, ids=lambda text: text[:40])
def test_tags_that_ask_too_much_are_refused(text: str, tmp_path: Path) -> None:
    loop: list[Any] = []
    loop.append(loop)

    long = "x" * (1 << 19)
    tracemalloc.start()
    with pytest.raises(BadBlueprint, match=r".") as refused:
        evaluated(text, folder=tmp_path, list=["p"], big=[1] * 200, loop=loop, long=long)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert NOT_WORKED_OUT[text] in str(refused.value)
    assert most < 20 << 20


def test_files_on_the_servers_machine_may_read_everything_there(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    (tmp_path / "word.txt").write_text("a word")

    assert evaluated("!Env HOME", is_open=True) == "theirs"
    assert evaluated(f"!File {tmp_path}/word.txt", is_open=True) == "a word"
    assert evaluated("!File picture.png", folder=tmp_path) == ("data:application/octet-stream;base64,iVBOR/8=")


def test_a_sealed_secret_opens_with_its_key_in_its_place_only() -> None:
    sealer = FileSealer(b"a passphrase of some length")
    sealed = sealer.seal("word", "core.user.password_hash")

    assert sealer.open(sealed, "core.user.password_hash") == "word"
    for other, place, text in (
        (sealer, "core.user.name", sealed),
        (FileSealer(b"another passphrase, as long"), "core.user.password_hash", sealed),
        (sealer, "core.user.password_hash", "kith1:AAAA"),
        (sealer, "core.user.password_hash", "word"),
    ):
        with pytest.raises(BadBlueprint, match="does not open"):
            other.open(text, place)
    with pytest.raises(BadBlueprint, match="at least 16"):
        FileSealer(b"short")


def test_what_comes_over_the_api_is_a_short_transaction() -> None:
    entries = "entries:\n" + "- {model: core.group}\n" * (FROM_API.entries + 1)

    with pytest.raises(BadBlueprint, match="more than 1000 entries"):
        read_blueprint(entries, FROM_API)
    assert len(read_blueprint(entries).entries) == FROM_API.entries + 1
