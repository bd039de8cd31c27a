"""Configuration as files: applied as a whole or not at all, and the same again from what was exported."""

from __future__ import annotations

import asyncio
import base64
import io
import re
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from kith.app import House
from kith.base.blobs import Blobs
from kith.cli.first_rows import offer_start
from kith.identity.blueprints.applying import SYSTEM, Applied, ReadFile, apply, rehearse
from kith.identity.blueprints.exporting import ExportedFile, export, export_some
from kith.identity.blueprints.flow_parts import parts_of
from kith.identity.blueprints.models import Models
from kith.identity.blueprints.outside import OutsideValues
from kith.identity.blueprints.reading import read_blueprint
from kith.identity.blueprints.sealed import FileSealer
from kith.identity.blueprints.tags import BadBlueprint, Sealed
from kith.identity.blueprints.user_model import UserModel
from kith.identity.blueprints.writing import as_yaml
from kith.identity.caller import ApiCaller
from kith.identity.reauthentication import ReauthenticationNeeded
from kith.identity.users.passwords import Passwords
from tests.conftest import TownBuilder
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.identity.saml_keys import pair
from tests.town import Person, Town
from tests.town.nursery import run

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[1] / "docs" / "blueprints.md"
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
BLUEPRINTS = f"{API}/managed/blueprints/"


def read(text: str | bytes, name: str = "", **context: Any) -> ReadFile:
    return ReadFile(read_blueprint(text), OutsideValues(HERE, is_open=True, environment={}), context, name)


async def applied(house: House, files: list[ReadFile], sealer: FileSealer | None = None) -> Applied:
    async with house.works.begin() as work:
        return await apply(work, SYSTEM, files, sealer)


async def rehearsed(house: House, files: list[ReadFile], sealer: FileSealer | None = None) -> Applied:
    async with house.works.begin() as work:
        return await rehearse(work, SYSTEM, files, sealer)


async def exported(house: House, sealer: FileSealer | None) -> list[ExportedFile]:
    async with house.works.begin() as work:
        return await export(work, sealer)


def opened(files: list[ExportedFile], sealer: FileSealer) -> list[Any]:
    """Everything that they say, in order."""
    return [
        (file.name, one.model, one.id, one.identifiers, {
            name: sealer.open(value.text, f"{one.model}.{name}") if isinstance(value, Sealed) else value
            for name, value in one.attrs.items()
        })
        for file in files
        for one in file.entries
    ]  # fmt: skip


async def test_what_is_exported_makes_the_same_of_an_empty_server(new_town: TownBuilder) -> None:
    # given two new servers, and one record of every kind on one of them
    first, second = await new_town(start=False), await new_town(start=False)
    keys = pair("blueprints")
    given = {"certificate": keys.certificate, "key": keys.key, "picture": f"data:image/png;base64,{PICTURE}"}
    every_kind = read((HERE / "every_kind.yaml").read_bytes(), **given)
    sealer = FileSealer(b"a passphrase of some length")
    async with first.house() as ours, second.house() as theirs:
        for house in (ours, theirs):
            async with house.works.begin() as work:
                await offer_start(work)
        made = await applied(ours, [every_kind])
        assert not made.warnings
        assert {one.action for one in made.changes} <= {"added", "changed"}
        assert not (await applied(ours, [every_kind])).changes

        # when
        files = await exported(ours, sealer)
        texts = {one.name: as_yaml(one) for one in files}
        written = [read(texts[name], name) for name in sorted(texts)]
        again = await rehearsed(ours, written, sealer)
        done = await applied(theirs, written, sealer)

        # then nothing is missing, nothing changes here, and all is the same there
        kinds = {one.name for one in ours.find(Models).listed if one.file}
        assert kinds == {entry.model for file in files for entry in file.entries}
        assert not again.changes
        assert not again.warnings
        assert not done.warnings
        assert opened(await exported(theirs, sealer), sealer) == opened(files, sealer)
        everything = "".join(texts.values())
        for word in ("another secret", "a webhook secret", "PRIVATE KEY", "$argon2", "a long enough password"):
            assert word not in everything

        # and without a key the secrets stay out, and what is there keeps them
        plain = [as_yaml(one) for one in await exported(ours, None)]
        assert "KITH_BLUEPRINT_LDAPSOURCE_CORP_BIND_PASSWORD" in "".join(plain)
        assert "!Sealed" not in "".join(plain)
        assert not (await rehearsed(ours, [read(one) for one in plain])).changes
        with pytest.raises(BadBlueprint, match="is sealed: give the key"):
            await rehearsed(ours, written)


async def test_the_examples_of_the_page_apply_and_rehearsals_leave_nothing(town: Town) -> None:
    examples = re.findall(r"```yaml[^\n]*\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert len(examples) == 2
    files = [read(one) for one in examples]
    async with town.house() as house:
        tried = await rehearsed(house, files)
        assert {(one.action, one.model) for one in tried.changes} >= {
            ("added", "core.user"),
            ("added", "instance.rule"),
        }
        again = (await rehearsed(house, files)).changes
        assert [(one.action, one.model, one.name) for one in again] == [
            (one.action, one.model, one.name) for one in tried.changes
        ]

        await applied(house, files)

        assert not (await rehearsed(house, files)).changes
        changed = await rehearsed(house, [read(examples[0].replace("severity: suspend", "severity: silence"))])
        [only] = changed.changes
        assert (only.action, only.model, only.name) == ("changed", "social.domainblock", "spam.example")
        assert [(one.field, one.before, one.after) for one in only.fields] == [("severity", "suspend", "silence")]


AUTHENTIK = """
version: 1
metadata:
  name: A way in, as authentik writes it
  labels: {blueprints.goauthentik.io/instantiate: "false"}
entries:
- model: authentik_blueprints.metaapplyblueprint
  attrs: {identifiers: {name: Default - Flow}, required: false}
- model: authentik_flows.flow
  id: flow
  identifiers: {slug: %(name)s}
  attrs: {name: "Welcome!", title: "Welcome!", designation: authentication, authentication: none}
- model: authentik_stages_password.passwordstage
  id: password
  identifiers: {name: %(name)s-password}
  attrs:
    backends: [authentik.core.auth.InbuiltBackend, authentik.sources.ldap.auth.LDAPBackend]
- model: authentik_stages_user_login.userloginstage
  id: login
  identifiers: {name: %(name)s-login}
  attrs: {session_duration: "hours=1;minutes=30", something_new: 7}
- model: authentik_flows.flowstagebinding
  id: binding
  identifiers: {order: 10, stage: !KeyOf password, target: !KeyOf flow}
  attrs: {re_evaluate_policies: true}
- model: authentik_flows.flowstagebinding
  identifiers: {order: 20, stage: !KeyOf login, target: !KeyOf flow}
- model: authentik_policies_expression.expressionpolicy
  id: policy
  identifiers: {name: %(name)s-policy}
  attrs: {expression: "return True"}
- model: authentik_policies.policybinding
  identifiers: {order: 10, target: !KeyOf binding, policy: !KeyOf policy}
- model: authentik_providers_oauth2.oauth2provider
  id: provider
  identifiers: {name: %(name)s}
  attrs:
    client_id: %(name)s
    client_type: confidential
    authorization_flow: !Find [authentik_flows.flow, [slug, no-such-flow]]
    redirect_uris: [{matching_mode: strict, url: "https://app.example/cb"}]
    property_mappings:
    - !Find [authentik_providers_oauth2.scopemapping, [managed, goauthentik.io/providers/oauth2/scope-openid]]
- model: authentik_core.application
  identifiers: {slug: %(name)s}
  attrs: {name: App, provider: !KeyOf provider}
- model: authentik_outposts.outpost
  identifiers: {name: nothing like it}
"""


async def test_a_file_for_authentik_applies_and_a_flow_comes_out_whole(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    owner, name = await owner_of(town), new_name("theirs")
    text = AUTHENTIK % {"name": name}

    # when
    answer = await owner.call("POST", f"{BLUEPRINTS}import/", files={"file": ("a.yaml", text)})

    # then
    told = answer.json()
    assert (answer.status_code, told["success"]) == (200, True), told
    warnings = [one["event"] for one in told["logs"] if one["log_level"] == "warning"]
    assert any("something_new" in one for one in warnings)
    assert any("no-such-flow" in one for one in warnings)
    [flow] = await results(owner, "/flows/instances/", slug=name)
    [provider] = await results(owner, "/providers/openid/", client_id=name)
    assert provider["redirect_uris"] == ["https://app.example/cb"]
    assert len(provider["property_mappings"]) == 1
    [login] = await results(owner, "/stages/user_login/", name=f"{name}-login")
    assert login["session_duration"] == 5400

    # and the flow can be taken out with all that belongs to it, and put in again without a change
    [me] = await results(owner, "/core/users/", username=owner.username)
    await make(owner, "/policies/bindings/", target=flow["pbm_uuid"], user=me["pk"], order=7)
    file = await owner.call("GET", f"{API}/flows/instances/{flow['pk']}/export/", headers={"Accept": "*/*"})
    assert file.status_code == 200
    assert f"username, {owner.username}" in file.text
    assert {one.model for one in read_blueprint(file.content).entries} == {
        "flows.flow", "flows.flowstagebinding", "stages.passwordstage", "stages.userloginstage",
        "policies.expressionpolicy", "policies.policybinding",
    }  # fmt: skip
    again = await owner.call(
        "POST", f"{BLUEPRINTS}import/", files={"file": ("a.yaml", file.content)}, data={"rehearse": "true"}
    )
    assert again.json() == {"success": True, "logs": [], "changes": []}

    # whomever it names is read, and not everybody there is
    async with town.house() as house, house.works.begin() as work:
        parts = await parts_of(work, flow["pk"])
        monkeypatch.setattr(UserModel, "every", None)
        assert parts is not None
        assert as_yaml(await export_some(work, parts[1], f"flow-{name}")) == file.text


async def test_an_import_is_all_or_nothing_and_needs_every_right(town: Town) -> None:
    owner = await owner_of(town)
    name = new_name("half")
    group = f"- {{model: core.group, identifiers: {{name: {name}}}}}\n"
    rule = f"- {{model: instance.rule, identifiers: {{text: {name}}}}}\n"
    flow = f"- {{model: flows.flow, identifiers: {{slug: {name}}}, attrs: {{name: n}}}}\n"

    async def send(person: Person, *entries: str) -> Any:
        text = "version: 1\nentries:\n" + "".join(entries)
        return await person.call("POST", f"{BLUEPRINTS}import/", json={"content": text})

    # the second entry is wrong, so the first is not kept
    told = (await send(owner, group, flow)).json()
    assert told["success"] is False
    assert "line 4 (flows.flow): designation: This field is required." in told["logs"][0]["event"]
    assert await results(owner, "/core/groups/", name=name) == []

    # somebody with some rights can do what they may, and nothing else
    rights = [f"core.{verb}_group" for verb in ("add", "change", "delete", "view")]
    helper = await person_who_may(town, owner, "managed.add_blueprintinstance", *rights)
    assert (await send(helper, group, flow)).status_code == 403
    assert (await send(helper, group, rule)).status_code == 403
    assert (await send(helper, group)).json()["success"] is True
    assert len(await results(owner, "/core/groups/", name=name)) == 1
    mighty = f"- {{model: core.group, identifiers: {{name: {name}}}, attrs: {{is_superuser: true}}}}\n"
    assert (await send(helper, mighty)).json()["success"] is False

    # nor choose the key of a new group, by which a policy may ask for one that is gone
    key = str(uuid.uuid4())
    chosen = f"- {{model: core.group, identifiers: {{pk: {key}}}, attrs: {{name: {new_name('chosen')}}}}}\n"
    assert (await send(helper, chosen)).json()["success"] is True
    assert (await owner.get(f"{API}/core/groups/{key}/")).status_code == 404
    assert (await send(owner, chosen)).status_code == 200

    # nor can they learn what they may not see, or try passwords
    look = f"- {{model: core.group, identifiers: {{name: !Find [core.user, [username, {owner.username}]]}}}}\n"
    guess = f"- {{model: core.user, identifiers: {{username: {owner.username}}}, attrs: {{password: a guess}}}}\n"
    assert (await send(helper, look)).status_code == 403
    assert (await send(helper, guess)).status_code == 403

    # nor what the operator has put into variables and files for blueprints, which a rehearsal would show
    for tag in ("!Env [KITH_BLUEPRINT_SECRET, x]", "!File [secret.txt, x]"):
        told = (await send(helper, f"- {{model: core.group, identifiers: {{name: {tag}}}}}\n")).json()
        assert "only a superuser" in told["logs"][0]["event"]
    (town.folder / "blueprints").mkdir(exist_ok=True)
    (town.folder / "blueprints" / "secret.txt").write_text("hunter2: 1")
    told = await helper.call("POST", f"{BLUEPRINTS}import/", json={"path": "secret.txt"})
    assert told.json()["logs"][0]["event"] == "Blueprint file does not exist"

    # nor say by a context what becomes of a file there: it may hold secrets, and the context where they are sent
    word = f"attrs: {{attributes: {{sent_to: !Context [where, here], word: {name}}}}}"
    shared = new_name("shared")
    text = f"version: 1\nentries:\n- {{model: core.group, identifiers: {{name: {shared}}}, {word}}}\n"
    (town.folder / "blueprints" / "shared.yaml").write_text(text)
    for where, person, status in (
        ({"where": "elsewhere"}, helper, 403),
        ({}, helper, 200),
        ({"where": "far"}, owner, 200),
    ):
        for sent in ({"context": where}, {"context": where, "rehearse": True}):
            told = await person.call("POST", f"{BLUEPRINTS}import/", json={"path": "shared.yaml", **sent})
            assert told.status_code == status, told.text
    assert "elsewhere" not in str(await results(owner, "/core/groups/", name=shared))

    # nor keep everybody who writes waiting while many records are looked for, or much comes of few tags
    loop = "!Enumerate [{0}, SEQ, !Enumerate [{0}, SEQ, {1}]]"
    places = "[" + ", ".join(["1"] * 700) + "]"
    for tag, words in ((f"!Find [core.group, [name, {name}]]", "more than 1000 !Find"), ("1", "too much comes")):
        attributes = f"{{attributes: {{a: {loop.format(places, tag)}}}}}"
        told = (
            await send(helper, f"- {{model: core.group, identifiers: {{name: {name}}}, attrs: {attributes}}}\n")
        ).json()
        assert words in told["logs"][0]["event"]

    # what is kept up is applied as the server itself, so they cannot say what it is
    body = {"name": name, "content": "version: 1\nentries:\n" + mighty}
    assert (await helper.call("POST", BLUEPRINTS, json=body)).status_code == 403
    assert (await helper.get(BLUEPRINTS)).status_code == 403
    outside = f"- {{model: core.group, identifiers: {{name: {name}}}, attrs: {{attributes: {{a: !Env PATH}}}}}}\n"
    assert "KITH_BLUEPRINT_" in (await send(owner, outside)).json()["logs"][0]["event"]

    # what cannot be applied cannot be kept
    wrong = await owner.call("POST", BLUEPRINTS, json={"name": name, "content": "entries:\n" + flow})
    assert wrong.status_code == 400
    assert wrong.json()["content"][0].startswith("Failed to validate blueprint: line 2 (flows.flow)")
    nothing = await owner.call("POST", BLUEPRINTS, json={"name": name})
    assert "Either path or content must be set." in nothing.text
    for path in ("../kith.sqlite3", "/etc/passwd", "oci://example.org/x", "no.yaml"):
        answer = await owner.call("POST", BLUEPRINTS, json={"name": name, "path": path})
        assert answer.json() == {"path": ["Blueprint file does not exist"]}


async def test_a_password_in_an_import_is_guarded_as_anywhere(town: Town) -> None:
    owner = await owner_of(town)
    [found] = await results(owner, "/core/users/", username=owner.username)
    by_token = ApiCaller(found["pk"], owner.username, "owner", permissions=None)

    async def tried(caller: ApiCaller, username: str, password: str) -> Applied:
        attrs = f"{{name: n, password: {password}}}"
        entry = f"- {{model: core.user, identifiers: {{username: {username}}}, attrs: {attrs}}}"
        async with house.works.begin() as work:
            return await rehearse(work, caller, [read(f"entries:\n{entry}")])

    async with town.house() as house:
        # whoever has not shown lately that it is them sets no password of their own
        with pytest.raises(ReauthenticationNeeded):
            await tried(by_token, owner.username, "a-new-one-of-some-length")
        assert (await tried(by_token, new_name("somebody"), "a-new-one-of-some-length")).changes

        # the policies judge what people send, not what the operator writes
        with pytest.raises(BadBlueprint, match="password: "):
            await tried(by_token, new_name("somebody"), "short")
        assert (await tried(SYSTEM, new_name("somebody"), "short")).changes


@pytest.mark.parametrize(
    "hashed",
    [
        "$argon2id$v=19$m=4194304,t=2,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaA",
        "$argon2id$v=19$m=1024,t=900,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaA",
        "$2b$31$" + "A" * 53,
        "bcrypt_sha256$$2b$31$" + "A" * 53,
        "pbkdf2_sha256$1000000000$salt$" + "A" * 43 + "=",
    ],
)
async def test_a_hash_that_costs_too_much_is_refused(town: Town, hashed: str) -> None:
    def file(text: str) -> ReadFile:
        attrs = f"{{name: n, password_hash: '{text}'}}"
        return read(f"entries:\n- {{model: core.user, identifiers: {{username: {new_name('dear')}}}, attrs: {attrs}}}")

    async with town.house() as house:
        with pytest.raises(BadBlueprint, match="costs too much to check"):
            await rehearsed(house, [file(hashed)])
        for cheap in ("$2b$12$" + "A" * 53, await house.find(Passwords).hash("a long enough password")):
            assert (await rehearsed(house, [file(cheap)])).changes


def moving(color: str) -> str:
    frames = [Image.new("RGB", (8, 8), one) for one in (color, "black")]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    return f"data:image/gif;base64,{base64.b64encode(file.getvalue()).decode()}"


async def test_pictures_are_stored_ahead_and_removed_if_nothing_comes_of_it(town: Town) -> None:
    first, second = (f"{word}_{new_name('x')[-8:]}" for word in ("first", "second"))

    def file(*entries: tuple[str, str], more: str = "") -> ReadFile:
        lines = (
            f"- {{model: social.emoji, identifiers: {{shortcode: {code}}}, attrs: {{image: '{image}'}}}}\n"
            for code, image in entries
        )
        return read("entries:\n" + "".join(lines) + more)

    async def stored(house: House) -> set[str]:
        return {key async for key in house.find(Blobs).list("emojis")}

    async with town.house() as house:
        before = await stored(house)
        house.works.clock = lambda: datetime.now(UTC) - timedelta(hours=2)  # so that what waits an hour is due
        with pytest.raises(BadBlueprint, match="designation"):
            await applied(
                house,
                [file((first, moving("red")), more="- {model: flows.flow, identifiers: {slug: no}, attrs: {name: n}}")],
            )
        house.works.clock = lambda: datetime.now(UTC)
        async with asyncio.timeout(20):
            while await stored(house) != before:
                await asyncio.sleep(0.1)

        # two of the same are two emoji with files of their own
        made = await applied(house, [file((first, moving("red")), (second, moving("red")))])
        assert [one.action for one in made.changes] == ["added", "added"]
        assert len(await stored(house) - before) == 4
        assert not (await applied(house, [file((first, moving("red")), (second, moving("red")))])).changes
        changed = await applied(house, [file((first, moving("blue")), (second, moving("red")))])
        assert [one.name for one in changed.changes] == [first]


async def until(person: Person, name: str, status: str) -> dict[str, Any]:
    for _ in range(600):
        found = await results(person, "/managed/blueprints/", search=name)
        if found and found[0]["status"] == status:
            return found[0]
        await asyncio.sleep(0.1)
    raise AssertionError(f"{name} is not {status}: {found}")


async def test_files_in_the_folder_are_applied_when_they_come_and_change(town: Town) -> None:
    # given
    owner, name = await owner_of(town), new_name("folder")
    folder = town.folder / "blueprints"
    folder.mkdir(exist_ok=True)
    file = folder / f"{name}.yaml"
    text = f"metadata: {{name: {name}}}\nentries:\n- {{model: core.group, id: g, identifiers: {{name: {name}}}"

    # when a file comes
    file.write_text(text + "}\n")
    first = await until(owner, name, "successful")

    # then it is applied, and what it says of itself is known
    assert first["managed_models"] == ["core.group"]
    assert first["last_applied_hash"]
    [listed] = [one for one in (await owner.get(f"{BLUEPRINTS}available/")).json() if one["path"] == file.name]
    assert (listed["hash"], listed["meta"]["name"]) == (first["last_applied_hash"], name)

    # when it is broken, that is told, and nothing else happens
    file.write_text(text + ", attrs: {is_superuser: perhaps}}\n")
    broken = await until(owner, name, "error")
    assert "is_superuser: Must be a valid boolean." in broken["log"][0]
    assert name in await town.kith("check", expect=1)
    events = await results(owner, "/audit/events/", action="configuration_error")
    assert any(one["context"].get("blueprint") == name for one in events)

    # when it is mended, it is applied again, with the context that somebody has given it
    file.write_text(text + ", attrs: {attributes: {a: !Context word}}}\n")
    await until(owner, name, "successful")
    changed = await owner.call("PATCH", f"{BLUEPRINTS}{first['pk']}/", json={"context": {"word": "w"}})
    assert changed.status_code == 200, changed.text
    for _ in range(600):
        [group] = await results(owner, "/core/groups/", name=name)
        if group["attributes"] == {"a": "w"}:
            break
        await asyncio.sleep(0.1)
    assert group["attributes"] == {"a": "w"}
    assert (await owner.call("POST", f"{BLUEPRINTS}{first['pk']}/apply/")).json()["pk"] == first["pk"]

    # when it is gone, what it made stays
    file.unlink()
    await until(owner, name, "orphaned")
    assert len(await results(owner, "/core/groups/", name=name)) == 1


async def test_the_command_line_exports_rehearses_and_applies(new_town: TownBuilder, tmp_path: Path) -> None:
    # given
    town = await new_town()
    name = new_name("typed")
    file, key, saved = tmp_path / "a.yaml", tmp_path / "key", tmp_path / "saved"
    key.write_text("a passphrase of some length")
    file.write_text(
        "entries:\n- {model: core.group, identifiers: {name: !Context name}, attrs: {attributes: {b: 1}}}\n"
        "- {model: social.emoji, identifiers: {shortcode: !Context shortcode}, attrs: {image: !File dot.png}}\n"
    )
    (tmp_path / "dot.png").write_bytes(base64.b64decode(PICTURE))
    words = ["blueprints", "apply", str(file), "--context", f"name={name}", "--context", f"shortcode={name[-8:]}"]

    # when
    tried = await town.kith(*words, "--rehearse")
    done = await town.kith(*words)

    # then
    assert f"+ core.group {name}" in tried
    assert "nothing was changed" in tried
    assert '    attributes: {"b":1}' in done
    assert "Nothing to change." in await town.kith(*words)
    assert "2 entries" in await town.kith("blueprints", "check", *words[2:])
    await town.kith("blueprints", "export", "--into", str(saved), "--with-secrets", "--key-file", str(key))
    assert name in (saved / "10-people.yaml").read_text()
    whole = tmp_path / "whole.yaml"
    whole.write_text(await town.kith("blueprints", "export"))
    assert "Nothing to change." in await town.kith("blueprints", "apply", str(whole), "--rehearse")
    assert {path.stat().st_mode & 0o077 for path in (saved, *saved.iterdir())} == {0}
    await town.kith("blueprints", "check", str(file), expect=1)  # as `apply` would, without a value for `!Context`
    file.write_text("entries: [{model: core.groop, identifiers: {name: x}}]")
    assert "the model core.groop is not known here" in await town.kith("blueprints", "apply", str(file), expect=1)
    await make(await owner_of(town), "/core/groups/", name=new_name("alive"))


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ("{model: core.groop, identifiers: {name: x}}", "the model core.groop is not known here"),
        ("{model: core.group, identifiers: {name: x}, attrs: {is_superuser: maybe}}", "is_superuser"),
        ("{model: core.group, identifiers: {name: x}, attrs: {attributes: !Context no_default}}", "may not be null"),
        ("{model: flows.flow, identifiers: {slug: x}}", "designation: This field is required"),
        ("{model: flows.flow, identifiers: {slug: default-authentication-flow}, state: must_created}", "is there"),
        ("{model: core.group, identifiers: {name: checked}}", None),
    ],
)
async def test_checking_finds_what_applying_would_refuse(
    town: Town, tmp_path: Path, entry: str, complaint: str | None, is_new: bool
) -> None:
    file = tmp_path / "club.yaml"
    file.write_text(f"entries: [{entry}]")
    own = {"KITH_DATA": str(tmp_path / "data"), "KITH_DATABASE": "sqlite"} if is_new else {}

    done = await run("blueprints", "check", str(file), environment=town.environment | own)

    assert done.code == (0 if complaint is None else 1), done.complained
    assert (complaint or f"{file}: one entry") in done.said + done.complained
    assert not (tmp_path / "data").exists()
    assert await results(await owner_of(town), "/core/groups/", name="checked") == []
