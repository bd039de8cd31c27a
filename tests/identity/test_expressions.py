"""Expressions: what is refused when it is saved, and what becomes of the worst that can be run."""

from __future__ import annotations

import asyncio
import os
import random
import unicodedata
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kith.base import asking
from kith.base.places import Full
from kith.identity.expressions.prelude import NAMES
from kith.identity.expressions.run import ExpressionObject, Expressions
from kith.identity.expressions.syntax import complain
from tests.identity.hostile_expressions import HOSTILE
from tests.search_size import is_whole_search
from tests.town import Person, Town, build_town
from tests.town.plain import PLAIN

ADA = ExpressionObject(
    username="ada",
    attributes={"team": {"name": "engines"}},
    all_groups=[ExpressionObject(pk="1", name="staff"), ExpressionObject(pk="2", name="everyone")],
)


@pytest.mark.parametrize(
    "body",
    [
        "return True",
        "if request.user.username == 'ada':\n    return True\nreturn False",
        "    return 1\n    # all of it is indented",
        "return '''two\nlines'''",
        "# nothing but a remark",
        "x = [n for n in range(3) if n]\r\nreturn f'{x[0]:>4}'",
        "def twice(n):\n\treturn 2 * n\nreturn twice(2)",
        "return {'a': 1, **{}} if context else lambda: 0",
        "while True: pass",
        "open('/tmp/expression-was-run', 'w')",
    ],
)
def test_a_good_expression_is_taken_as_it_is(body: str) -> None:
    assert complain(body) is None


def test_checking_runs_nothing() -> None:
    assert complain("while True: pass") is None


@pytest.mark.parametrize(
    ("body", "begins"),
    [
        ("return (", "line 1, column 9: "),
        ("x = 1\nreturn x +", "line 2, column 11: "),
        ("x = 1\n\n    return x", "line 3, column "),
        ("    x = 1\n    return )", "line 2, column 12: "),
        ("if x:\nreturn 1", "line 2, column 1: "),
        ("x = '''a\nb''' )", "line 2, column 6: "),
        ("return 1\r\nreturn )", "line 2, column 8: "),
        ("return 'open", "line 1, column "),
        ("for x in y:\n    z = yield x", "line 2, column 9: not available here: yield"),
        ("def f():\n    yield 1\nreturn list(f())", "line 2, column 5: not available here: yield"),
        ("if x:\n    yield )", "line 2, column "),
        ("del x", "line 1, column 1: not available here: "),
        ("a\0b", "line 1, column 2: "),
        ("\udc00", "line 1, column 1: "),
        ("x" * 65_537, "line 1, column 1: the expression is longer than 65536 bytes"),
        ("é" * 40_000, "line 1, column 1: the expression is longer than 65536 bytes"),
    ],
)
def test_a_bad_expression_is_told_where_its_author_looks(body: str, begins: str) -> None:
    complaint = complain(body)

    assert complaint is not None
    assert complaint.startswith(begins), complaint
    assert complaint.isprintable()


TOO_MUCH = {
    "round": "(" * 60_000,
    "square": "[" * 60_000,
    "curly": "{" * 60_000,
    "not": "not " * 16_000 + "1",
    "minus": "-" * 65_000 + "1",
    "plus": "1+" * 32_000 + "1",
    "power": "1**" * 21_000 + "1",
    "lambda": "lambda:" * 9_000 + "1",
    "else": "1 if 1 else " * 5_000 + "1",
    "elif": "if 1:\n pass\n" + "elif 1:\n pass\n" * 4_000,
    "calls": "f" + "()" * 32_000,
    "dots": "import " + "a." * 32_000 + "a",
    "indent": "".join(" " * depth + "if 1:\n" for depth in range(300)),
    "formats": "f'{" * 20_000,
    "digits": "9" * 65_000,
    "quotes": '"' * 65_001,
}


@pytest.mark.parametrize("body", TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_no_source_harms_the_process_that_checks_it(body: str) -> None:
    complaint = complain(body)

    assert complaint is not None
    assert complaint.startswith("line ")


@settings(max_examples=60, deadline=None)
@given(st.text() | st.text(alphabet="()[]{}'\"\\\n\t :=#fx1\f\r"))
def test_any_text_gets_an_answer(body: str) -> None:
    complaint = complain(body)

    assert complaint is None or complaint.startswith("line ")


@pytest.fixture(scope="module")
async def sandbox() -> AsyncIterator[Expressions]:
    expressions = Expressions(processes=2)
    yield expressions
    expressions.close()


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("return user.username", "ada"),
        ("return user['username'], 'email' in user, user.get('email', 'none')", ["ada", False, "none"]),
        ("return '''a\n  b'''", "a\n  b"),
        ("pass", None),
        ("yield 1\nyield 'two # 2'  # a note", [1, "two # 2"]),
        ("for x in [1, 2]:\n    yield x; yield (\n        x * 10\n    )", [1, 10, 2, 20]),
        ("if user: yield from [\n 'a', # yield\n 'b']", ["a", "b"]),
        ("yield\nyield 1, 2\nreturn", [None, [1, 2]]),
        ("if not user:\n  yield 1", []),
        ("yield 1\nreturn 5\nyield 2", [1]),
        ("return 'yield 1', {'yield': 2}['yield']", ["yield 1", 2]),
        ("yield_ = 3\nyield '''a\nyield 9'''\nyield f'{yield_}'", ["a\nyield 9", "3"]),
        ("return {1: {2}, 'c': (3, None)}", {"1": [2], "c": [3, None]}),
        ("return regex_match('ada@example.org', '@example'), regex_match('ada', '^d')", [True, False]),
        ("return regex_replace('ada@example.org', '@.*', '')", "ada"),
        ("return is_group_member(user, name='staff'), pb_is_group_member(user, name='other')", [True, False]),
        ("return list_flatten([5, 6]), list_flatten([]), list_flatten('x')", [5, None, "x"]),
        ("return slugify('Ada & Bob'), obj_attr(user, 'attributes.team.name')", ["ada-bob", "engines"]),
        ("return '10.1.2.3' in ip_network('10.0.0.0/8'), ip_in('10.1.2.3', '192.168.0.0/16', '::/0')", [True, False]),
        ("return ip_in('2001:db8::1', '2001:db8::/32'), ip_in('::ffff:10.0.0.1', '10.0.0.0/8')", [True, True]),
        ("return str(ip_address('fe80::1'))", "fe80::1"),
        ("import json\nreturn json.loads('[1]')", [1]),
    ],
)
async def test_an_expression_returns_plain_data(sandbox: Expressions, body: str, value: Any) -> None:
    outcome = await sandbox.run(body, {"user": ADA})

    assert (outcome.error, outcome.value) == (None, value)


async def test_messages_and_what_was_printed_come_back(sandbox: Expressions) -> None:
    outcome = await sandbox.run("ak_message('no')\npb_message('entry')\nprint('a', 1)\nak_logger.info('b')", {})

    assert outcome.messages == ["no", "entry"]
    assert outcome.log == ["a 1", "b"]


async def test_a_helper_is_called_and_a_strange_variable_is_passed_over(sandbox: Expressions) -> None:
    async def twice(number: int) -> int:
        return 2 * number

    outcome = await sandbox.run(
        "_give(2)\nreturn twice(), fine", {"fine": 1, "_tell": 2, "not a name": 3}, {"twice": twice}
    )

    assert outcome.value == [4, 1]


async def test_what_goes_wrong_in_a_helper_is_told_only_if_it_is_meant_to_be(sandbox: Expressions) -> None:
    async def refuse() -> None:
        raise ValueError("not with these")

    async def break_down() -> None:
        raise OSError("the password is 1234")

    helpers = {"refuse": refuse, "break_down": break_down}
    refused = await sandbox.run("_give()\nrefuse()", {}, helpers)
    broken = await sandbox.run("_give()\nbreak_down()", {}, helpers)

    assert refused.error == "line 2: ValueError: not with these"
    assert broken.error == "line 2: RuntimeError: this cannot be asked at the moment"


async def test_no_other_spelling_of_a_helper_reaches_it(sandbox: Expressions) -> None:
    """Who may look people up is decided by the text; the language takes letters of other alphabets for ours."""
    asked: list[str] = []
    name = "_user_by"

    async def user_by(body: str) -> None:
        asked.append(body)

    same = [chr(code) for code in range(128, 0x110000) if unicodedata.normalize("NFKC", chr(code)) in name]
    letters = [one for one in same if one.isidentifier() or f"a{one}".isidentifier()]
    spellings = [name.replace(unicodedata.normalize("NFKC", one), one) for one in letters]
    for spelling in spellings if is_whole_search() else random.Random(24).sample(spellings, 25):
        await sandbox.run(f"_give('{ascii(spelling)[1:-1]}')\n{spelling}()", {}, {name: user_by})
    plain = await sandbox.run(f"_give('plainly')\n{name}()", {}, {name: user_by})

    assert len(letters) > 50
    assert (plain.error, asked) == (None, ["plainly"])


_GREAT = [
    "'x' * 70_000",
    "['x'] * 70_000",
    "['x' * 1000] * 100",
    "{n: n for n in range(40_000)}",
    "2 ** 100_000",
    "twice_as_long([])",
    "[twice_as_long([])]",
    "{'a': {'b': twice_as_long([])}}",
    "{twice_as_long(()): 1}",
    "{twice_as_long(())}",
    "frozenset([twice_as_long(())])",
    "an_object(twice_as_long(()))",
    "{an_object(1): twice_as_long(())}",
]
_MADE = """
def twice_as_long(x):
  for n in range(40): x = [x, x] if isinstance(x, list) else (x, x)
  return x
class A: pass
def an_object(x):
  a = A()
  a.x = x
  return a
"""
_WAYS = {
    "given by its rules": "_give({})\nprobe()",
    "called with it": "probe({})",
    "called with it by name": "probe(x={})",
    "in a list of arguments": "probe(*[{}])",
    "under another name": "other = probe\nother({})",
    "asked of the system": "import os\nos.getenv('a', {})",
    "called, though nobody knows it": "nobody({})",
    "returned": "return {}",
    "returned without the check": "global _plain\ndef same(value): return value\n_plain = same\nreturn {}",
    "returned by somebody else": "global _tell\ndef same(value): return value\n_tell = same\nreturn {}",
    "raised": "raise ValueError({})",
    "asserted": "assert False, {}",
    "printed": "print({})",
    "printed for the server": "import sys\nprint({}, file=sys.stderr)",
    "a message": "message({})",
}


@pytest.mark.parametrize("way", _WAYS)
async def test_no_value_leaves_the_sandbox_but_as_a_short_text(sandbox: Expressions, way: str) -> None:
    """What is small in the sandbox, as a list that holds another one twice, can fill our memory, or take forever here."""
    asked: list[int] = []

    async def probe(value: Any) -> None:
        asked.append(len(str(value)))

    for value in _GREAT if is_whole_search() else ("'x' * 70_000", "twice_as_long([])", "{twice_as_long(()): 1}"):
        body = _MADE + _WAYS[way].replace("{}", f"({value})", 1)
        outcome = await sandbox.run(body, {}, {"probe": probe})

        assert len(str([outcome.value, outcome.messages, outcome.log, outcome.error])) < 70_000, value
    assert max(asked, default=0) < 70_000
    assert (await sandbox.run("return 1", {})).value == 1


@pytest.mark.parametrize("ours", ["len", "_plain", "_json", "_messages", "str", "ValueError"])
async def test_whatever_an_expression_redefines_its_result_is_small(sandbox: Expressions, ours: str) -> None:
    """The check inside the sandbox can be redefined there; the one outside cannot."""
    body = (
        f"global {ours}\nclass Other:\n  def dumps(self, value): return '[[' + '[],' * 100_000 + '1],[]]'\n"
        f"def other(value): return 1\n{ours} = Other() if {ours!r} == '_json' else other\n"
        "return 'x' * 1_000_000"
    )

    outcome = await sandbox.run(body, {})

    assert len(str(outcome.value)) < 70_000
    assert len(str(outcome.messages)) < 70_000


async def test_every_helper_is_there_by_each_of_its_names(sandbox: Expressions) -> None:
    names = (
        "is_group_member",
        "user_by",
        "user_has_authenticator",
        "call_policy",
        "create_event",
        "obj_attr",
        "resolve_dns",
        "reverse_dns",
        "message",
        "logger",
    )
    plain = (
        "regex_match",
        "regex_replace",
        "list_flatten",
        "slugify",
        "delete_none_values",
        "ip_address",
        "ip_network",
        "ip_in",
    )
    wanted = sorted({*plain, *(f"{before}{name}" for name in names for before in ("", "ak_", "pb_"))})

    outcome = await sandbox.run(f"return len([{', '.join(wanted)}])", {})

    assert (outcome.error, outcome.value) == (None, len(wanted))
    assert set(wanted) == NAMES


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("while True: pass", "took too long"),
        ("try:\n  while True: pass\nexcept BaseException:\n  return True", "took too long"),
        ("return 'x' * 10**9", "too much memory"),
        ("x = 'x'\nwhile True: x += x", "too much memory"),
        ("return 9 ** 9 ** 9", "too much memory"),
        ("return f'{1:>1000000000}'", "too much memory"),
        ("def f(): return f()\nreturn f()", "called itself too often"),
        ("x = []\nx.append(x)\nreturn x", "called itself too often"),
        ("print('x' * 100_000)", "printed too much"),
        ("return 'x' * 70_000", "longer than 65536"),
        ("import subprocess", "line 1: ModuleNotFoundError"),
        ("import socket", "line 1: ModuleNotFoundError"),
        ("import os\nreturn os.environ", "line 2: "),
        ("import os\nreturn os.listdir('/')", "line 2: PermissionError"),
        ("return open('/etc/passwd').read()", "line 1: PermissionError"),
        ("from pathlib import Path\nreturn Path('/etc/passwd').read_text()", "line 2: PermissionError"),
        ("return __import__('os')", "NameError"),
        ("return ().__class__.__subclasses__()", "AttributeError"),
        ("return '{0.__class__.__init__.__globals__}'.format(user)", "AttributeError"),
        ("x = 1\n\nreturn 1 / 0", "line 3: ZeroDivisionError: division by zero"),
        ("raise SystemExit()", "SystemExit"),
        ("return nobody", "line 1: NameError"),
        ("return float('nan')", "could not be run"),
        ("return ip_in('nowhere', '10.0.0.0/8')", "line 1: ValueError: 'nowhere' is not an address"),
        ("return (", "could not be run"),
    ],
)
async def test_the_worst_ends_soon_and_as_an_error(sandbox: Expressions, body: str, words: str) -> None:
    outcome = await sandbox.run(body, {"user": ADA})

    assert outcome.error is not None
    # Which of two limits is met first depends on how busy the machine is.
    met = (words, "took too long") if words == "too much memory" else (words,)
    assert any(said in outcome.error for said in met)
    assert outcome.value is None


async def test_endless_loops_hold_up_nobody_else(sandbox: Expressions) -> None:
    loops = [asyncio.create_task(sandbox.run("while True: pass", {})) for _ in range(6)]
    turns = 0
    while not all(loop.done() for loop in loops):
        await asyncio.sleep(0)
        turns += 1

    assert turns > 100
    assert all("too long" in str(loop.result().error) for loop in loops)
    assert (await sandbox.run("return 1", {})).value == 1


async def test_one_expression_leaves_nothing_to_the_next(sandbox: Expressions) -> None:
    for _ in range(3):
        await sandbox.run("global kept\nkept = 1\nis_group_member = None", {})

    assert "NameError" in str((await sandbox.run("return kept", {})).error)


async def test_the_processes_end_with_the_server() -> None:
    expressions = Expressions(processes=1)
    ours = psutil.Process(os.getpid())
    before = set(ours.children())
    await expressions.run("return 1", {})
    started = set(ours.children()) - before

    expressions.close()

    assert started
    assert not [process for process in started if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


# The whole server


async def test_a_server_goes_on_answering_whatever_its_expressions_do(tmp_path: Path) -> None:
    """Every body is refused when saved or stopped when run, while somebody else asks how the server is."""
    async with build_town("sqlite", tmp_path / "town") as town:
        ada = await town.owner()
        probing = asyncio.create_task(_probe(town, until := asyncio.Event()))
        turns = asyncio.Semaphore(6)
        told = await asyncio.gather(*(_try(ada, turns, body) for body in HOSTILE.values()))
        good = await _try(ada, turns, "return user_by(username=user.username).pk == user.pk")
        until.set()
        probes = await probing

    got_away = [name for name, (passing, words) in zip(HOSTILE, told, strict=True) if passing or not words]
    assert got_away == []
    assert good == (True, [])
    assert probes
    assert set(probes) == {200}


async def _probe(town: Town, until: asyncio.Event) -> list[int]:
    found = []
    async with httpx.AsyncClient(base_url=town.base_url, timeout=30, verify=PLAIN) as http:
        while not until.is_set():
            found.append((await http.get("/health")).status_code)
            await asyncio.sleep(0.05)
    return found


async def _try(person: Person, turns: asyncio.Semaphore, body: str) -> tuple[bool, list[str]]:
    """Whether it passes, and why not."""
    async with turns:
        name = uuid.uuid4().hex
        made = await person.call("POST", "/api/v2/policies/expression/", json={"name": name, "expression": body})
        if made.status_code == 400:
            return False, made.json()["expression"]
        me = (await person.get("/api/v2/core/users/me/")).json()["user"]["pk"]
        asked = {"user": me, "context": {"own_name": name}}
        answer = await person.call("POST", f"/api/v2/policies/all/{made.json()['pk']}/test/", json=asked)
        assert answer.status_code == 200, answer.text
        return answer.json()["passing"], answer.json()["messages"]


class Stranger:
    """Somebody on whose behalf an expression is run."""

    user_id: int | None = None
    is_entering = is_of_known = False

    def __init__(self, address: str) -> None:
        self.address = address

    async def look_again(self) -> None:
        """They may still do what they ask."""


@pytest.fixture
def waiting_names() -> Iterator[tuple[Expressions, Callable[[str], asyncio.Task[Any]]]]:
    """Expressions, and what begins one for an address that looks up a name, which nobody tells for seconds."""
    expressions = Expressions()

    async def nobody_tells(*_given: Any) -> list[str]:
        await asyncio.sleep(2)
        return []

    def look_up(address: str) -> asyncio.Task[Any]:
        async def look() -> Any:
            asking.answer_for(Stranger(address))
            return await expressions.run("return resolve_dns('x.example')", {}, {"_resolve_dns": nobody_tells})

        return asyncio.create_task(look())

    yield expressions, look_up
    expressions.close()


async def test_whoever_has_names_looked_up_keeps_nobody_waiting(
    waiting_names: tuple[Expressions, Callable[[str], asyncio.Task[Any]]],
) -> None:
    expressions, look_up = waiting_names
    await expressions.run("return 1", {})
    crowd = [look_up("203.0.113.7") for _ in range(20)]
    await asyncio.sleep(0.2)

    async with asyncio.timeout(1.5):
        assert (await expressions.run("return 1", {})).value == 1
    async with asyncio.timeout(3.5):
        assert (await look_up("203.0.113.8")).value == []

    assert sum(one.done() for one in crowd) < 8, "they have waited behind themselves"
    for one in crowd:
        one.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)


async def test_a_name_that_cannot_be_asked_for_is_not_taken_for_one_that_is_not_there() -> None:
    async def full(*_given: Any) -> list[str]:
        raise Full("no place")

    expressions = Expressions()
    try:
        outcome = await expressions.run("return resolve_dns('x.example') == []", {}, {"_resolve_dns": full})
    finally:
        expressions.close()

    assert outcome.value is None
    assert outcome.error == "line 1: RuntimeError: this cannot be asked at the moment"
