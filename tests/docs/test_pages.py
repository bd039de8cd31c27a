"""What the documentation says is so: examples are run, and what cannot be run is checked for what can be known of it."""

from __future__ import annotations

import asyncio
import configparser
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import httpx
import msgspec
import pytest
import yaml

from kith.app import ROUTES
from kith.base.settings import Settings
from kith.cli import kith
from tests.docs.pages import FOLDER, Page, all_pages
from tests.identity.flow_browser import Browser
from tests.reference_pages import PAGES
from tests.town import Person, Town, build_town
from tests.town.ports import ReservedPort
from tests.town.quick_command import quick_command

ROOT = FOLDER.parent
TUTORIAL = "tutorial.md"
OTHERS = {"KITH_CONFIG", "KITH_TEST_SEARCH"}  # no settings: where settings are, and how much the tests search
OF_BLUEPRINTS = "KITH_BLUEPRINT_"  # what a blueprint may read of the environment
_ADDRESS = re.compile(r"http://localhost:8000(/[^\s\"'<>`)\\|]*)")
_NAME = re.compile(r"\bKITH_[A-Z_]*[A-Z]\b")
_CALL = re.compile(r"(?:^|[\s(`])(?:\.venv/bin/)?kith ([a-z][^\n`|;)]*)", re.MULTILINE)


def _compiles(text: str) -> None:
    """Expressions are the body of a function, and may be several examples one below the other."""
    body = "\n".join(f"    {line}" for line in text.splitlines())
    compile(f"def example():\n{body}" if "return" in text and "import" not in text else text, "example", "exec")


def _is_bash(text: str) -> None:
    done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def _is_settings(text: str) -> None:
    assert set(tomllib.loads(text)) <= set(Settings.__struct_fields__)


def _is_ini(text: str) -> None:
    configparser.ConfigParser(interpolation=None).read_string(text)


class _AnyTag(yaml.SafeLoader):
    """Tags of blueprints count as what follows them."""


_AnyTag.add_multi_constructor("!", lambda loader, _tag, node: _plain(loader, node))


def _plain(loader: yaml.SafeLoader, node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node) if isinstance(node, yaml.ScalarNode) else loader.construct_object(node)


CHECKS: dict[str, Callable[[str], Any]] = {
    "sh": _is_bash,
    "python": _compiles,
    "json": msgspec.json.decode,
    "toml": _is_settings,
    "yaml": lambda text: yaml.load(text, _AnyTag),
    "ini": _is_ini,
}
UNCHECKED = {"", "text", "nginx", "caddy", "apache", "http"}


def test_examples_are_well_written() -> None:
    wrong = []
    for page in all_pages():
        for example in page.examples:
            check = CHECKS.get(example.language)
            if check is None:
                wrong += [] if example.language in UNCHECKED else [f"{page.name}: who knows {example.language}?"]
                continue
            try:
                check(example.text)
            except (AssertionError, ValueError, SyntaxError, configparser.Error, yaml.YAMLError) as error:
                wrong.append(f"{page.name}: {error}\n{example.text}")

    assert not wrong, "\n".join(wrong)


def test_settings_commands_and_addresses_are_there() -> None:
    wrong = [f"{page.name}: {one}" for page in all_pages() for one in _unknown(page)]

    assert not wrong, "\n".join(wrong)


def _unknown(page: Page) -> list[str]:
    settings = {f"KITH_{name.upper()}" for name in Settings.__struct_fields__} | OTHERS
    found = [name for name in _NAME.findall(page.text) if name not in settings and not name.startswith(OF_BLUEPRINTS)]
    found += [path for path in _ADDRESS.findall(page.plain) if not _is_route(path)]
    if page.name != "reference/commands.md":
        found += [f"kith {call}: {why}" for call in _CALL.findall(page.text) if (why := _why_no_command(call))]
    return found


def _is_route(path: str) -> bool:
    if path.endswith("/api/v2"):
        return True  # what all of them begin with
    plain = urlsplit(path).path.rstrip(".,:") if "..." not in path else path.replace("...", "x")
    return any(_pattern(template).fullmatch(plain) for route in ROUTES for template in (route.template, *route.aliases))


def _pattern(template: str) -> re.Pattern[str]:
    text = re.sub(r"\\\{\w+:path\\\}", ".+", re.escape(template))
    return re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", text))


def _why_no_command(call: str) -> str:
    try:
        words = shlex.split(call)
    except ValueError:
        words = call.split()
    command: click.Command | None = kith
    options: set[str] = set()
    for word in words:
        if isinstance(command, click.Group):
            if word in {name for one in command.params for name in one.opts}:
                break  # an option of the group
            if not re.fullmatch("[a-z-]+", word):
                break  # the group itself is spoken of
            command = command.get_command(click.Context(command), word)
            if command is None:
                return f"there is no {word}"
            options = {name for one in command.params for name in one.opts + one.secondary_opts} | {"--help"}
        elif word.startswith("--") and word.partition("=")[0] not in options:
            return f"there is no {word}"
    return ""


@pytest.mark.parametrize("name", list(PAGES))
def test_what_is_written_from_the_code_is_what_the_code_says(name: str) -> None:
    """Else: scripts/docs reference."""
    assert (FOLDER / "reference" / name).read_text() == PAGES[name]()


def _build(config: Path, into: Path) -> subprocess.CompletedProcess[str]:
    """Not `--quiet`: where warnings are not shown, they are not counted either."""
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(config), "--site-dir", str(into)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(words, cwd=ROOT, env=environment, text=True, capture_output=True, check=False)


@pytest.mark.parametrize("link", ["../README.md", "../deploy/", "nothing.md"])
def test_a_link_that_leaves_the_documentation_is_an_error(tmp_path: Path, link: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"[Somewhere]({link})\n")
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    kept = {"site_name": config["site_name"], "validation": config["validation"]}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(kept))

    done = _build(tmp_path / "mkdocs.yml", tmp_path / "site")

    assert done.returncode != 0
    assert link in done.stderr


def test_the_site_is_built_without_a_broken_link_and_asks_no_other_host(tmp_path: Path) -> None:
    done = _build(ROOT / "mkdocs.yml", tmp_path)

    assert done.returncode == 0, done.stderr
    brought = re.compile(r"<(?:script|link|img)\b[^>]*\b(?:src|href)=\"?(https?:[^\s\">]+)")
    assert {one for path in tmp_path.rglob("*.html") for one in brought.findall(path.read_text())} == set()


async def test_examples_do_what_they_say(tmp_path: Path) -> None:
    """One server for all pages, as for a reader: the tutorial first."""
    pages = {page.name: page for page in all_pages()}
    folder = tmp_path / "reader"
    folder.mkdir()
    with ReservedPort() as port:
        async with build_town("sqlite", tmp_path / "town") as town, quick_command(folder / "kith"):
            app = f"http://localhost:{port.number}"
            tutorial = pages.pop(TUTORIAL)
            await _run(tutorial, town, folder, app)
            await _enter(town, folder, app)
            for page in pages.values():
                await _run(page, town, folder, app)


def _as_here(text: str, town: Town, folder: Path, app: str) -> str:
    text = text.replace("/mnt/", f"{folder}/").replace("/etc/kith/", f"{folder}/")
    text = text.replace("http://localhost:8000", town.base_url).replace("http://localhost:5555", app)
    return text.replace(".venv/bin/kith", str(folder / "kith"))


def _environment() -> dict[str, str]:
    """Without what says how the tests are run."""
    return {name: value for name, value in os.environ.items() if not name.startswith("KITH_")}


async def _run(page: Page, town: Town, folder: Path, app: str) -> None:
    """All examples of a page in one shell, as a reader would."""
    script = "\n".join(one.text for one in page.examples if one.language == "sh" and not one.why)
    if not script:
        return
    for one in page.examples:
        if one.title:
            (folder / one.title).write_text(one.text)
    setup = town.setup_link() if page.name == TUTORIAL else ""
    told = folder.with_name("said.txt")
    told.unlink(missing_ok=True)
    with told.open("ab") as said:  # which others may open as well, as they may not a socket of the loop
        process = await asyncio.create_subprocess_exec(
            "bash", "-euo", "pipefail", "-c", _as_here(script, town, folder, app), cwd=folder,
            env=_environment() | town.environment | {"SETUP": setup}, stdout=said, stderr=said,
        )  # fmt: skip
        await process.wait()
    assert process.returncode == 0, f"{page.name}\n{told.read_text()[-3000:]}"


async def _enter(town: Town, folder: Path, app: str) -> None:
    """The tutorial's application, and Ada's browser before it."""
    environment = os.environ | {"KITH": town.base_url, "ME": app}
    process = await asyncio.create_subprocess_exec(sys.executable, "hello.py", cwd=folder, env=environment)
    try:
        browser = Browser(town)
        await browser.sign_in(Person(town.http, "ada", "correct horse battery"))
        async with httpx.AsyncClient(timeout=60) as http:
            asked = await _first_answer(http, app)
            answer = await browser.http.get(asked.headers["location"])
            slug = answer.headers["location"].split("/")[2]
            shown = await browser.see(slug)
            assert shown["component"] == "consent", shown
            done = await browser.answer(slug, component="consent", token=shown["token"])
            back = await browser.http.get(done["to"])
            greeting = await http.get(back.headers["location"])
        assert greeting.text == "Hello, ada!\n"
    finally:
        process.terminate()
        await process.wait()


async def _first_answer(http: httpx.AsyncClient, app: str) -> httpx.Response:
    for _ in range(300):
        try:
            return await http.get(app)
        except httpx.ConnectError:
            await asyncio.sleep(0.1)
    raise AssertionError("the application does not answer")
