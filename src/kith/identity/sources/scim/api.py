"""/source/scim/SLUG/v2: what a service calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import msgspec

from kith.base.errors import Malformed, NotFound, UnsupportedMedia
from kith.base.exchange import Answer, Exchange
from kith.base.params import BodyLimits, parse_json
from kith.base.routing import FromPath, Route, delete, get, patch, post, put
from kith.base.routing.route import route
from kith.identity.rest.fields import read_uuid
from kith.identity.scim.attributes import ResourceType
from kith.identity.scim.documents import clean
from kith.identity.scim.errors import SCIM_JSON, ScimError
from kith.identity.scim.patch import patched, read_operations
from kith.identity.scim.projection import project, read_shown
from kith.identity.scim.schemas import GROUPS, USERS
from kith.identity.sources.scim import discovery, groups, people, store
from kith.identity.sources.scim.access import ScimCaller, let_in
from kith.identity.sources.scim.entities import render_groups, render_users
from kith.identity.sources.scim.listing import GROUP_LIST, PEOPLE, ListedKind, list_resources, read_question
from kith.identity.sources.scim.tables import ReceivedGroup, ReceivedUser

ROOT = "/source/scim/{slug}/v2"
MOST_BYTES = 1 << 20
_LIMITS = BodyLimits(depth=8, values=40_000)
_TYPES = ("application/scim+json", "application/json")
_ONLY_IN = (let_in,)


# Discovery


@get(f"{ROOT}/ServiceProviderConfig", guards=_ONLY_IN)
async def show_config(exchange: Exchange) -> Answer:
    return _shown(discovery.config(_caller(exchange).root))


@get(f"{ROOT}/ResourceTypes", guards=_ONLY_IN)
async def list_resource_types(exchange: Exchange) -> Answer:
    return _shown(discovery.resource_types(_caller(exchange).root))


@get(f"{ROOT}/ResourceTypes/{{name}}", guards=_ONLY_IN)
async def show_resource_type(exchange: Exchange, name: FromPath[str]) -> Answer:
    return _shown(_known(discovery.resource_type(_caller(exchange).root, name)))


@get(f"{ROOT}/Schemas", guards=_ONLY_IN)
async def list_schemas(exchange: Exchange) -> Answer:
    return _shown(discovery.schemas(_caller(exchange).root))


@get(f"{ROOT}/Schemas/{{name}}", guards=_ONLY_IN)
async def show_schema(exchange: Exchange, name: FromPath[str]) -> Answer:
    return _shown(_known(discovery.schema(_caller(exchange).root, name)))


def _known(found: dict[str, Any] | None) -> dict[str, Any]:
    if found is None:
        raise NotFound
    return found


# People


@get(f"{ROOT}/Users", guards=_ONLY_IN)
async def list_users(exchange: Exchange) -> Answer:
    return await _list(exchange, PEOPLE)


@post(f"{ROOT}/Users/.search", guards=_ONLY_IN)
async def search_users(exchange: Exchange) -> Answer:
    return await _search(exchange, PEOPLE)


@post(f"{ROOT}/Users", guards=_ONLY_IN)
async def add_user(exchange: Exchange) -> Answer:
    caller = _caller(exchange)
    told = people.read_person(clean(USERS, await _body(exchange, USERS)))
    id = await people.add(exchange.work, caller.source, told)
    return await _answer_user(exchange, await people.get(exchange.work, caller.source, id), status=201)


@get(f"{ROOT}/Users/{{id}}", guards=_ONLY_IN)
async def show_user(exchange: Exchange, id: FromPath[str]) -> Answer:
    return await _answer_user(exchange, await people.get(exchange.work, _caller(exchange).source, read_uuid(id)))


@put(f"{ROOT}/Users/{{id}}", guards=_ONLY_IN)
async def replace_user(exchange: Exchange, id: FromPath[str]) -> Answer:
    told = people.read_person(clean(USERS, await _body(exchange, USERS)))
    person = await _hold_user(exchange, id)
    return await _change_user(exchange, person, told)


@patch(f"{ROOT}/Users/{{id}}", guards=_ONLY_IN)
async def change_user(exchange: Exchange, id: FromPath[str]) -> Answer:
    operations = read_operations(USERS, await _body(exchange))
    person = await _hold_user(exchange, id)
    document = patched(USERS, people.writable(person), operations)
    return await _change_user(exchange, person, people.read_person(clean(USERS, document)))


@delete(f"{ROOT}/Users/{{id}}", guards=_ONLY_IN)
async def remove_user(exchange: Exchange, id: FromPath[str]) -> Answer:
    person = await _hold_user(exchange, id)
    await people.remove(exchange.work, _caller(exchange).source, person)
    return Answer(204, ())


async def _hold_user(exchange: Exchange, id: str) -> ReceivedUser:
    caller, work = _caller(exchange), exchange.work
    await work.db.begin()
    await work.db.hold(f"scim:{caller.source.pbm_uuid}:{read_uuid(id)}")
    person = await people.get(work, caller.source, read_uuid(id))
    if exchange.header(b"if-match"):
        [document] = await render_users(work, caller.source.pbm_uuid, caller.root, [person])
        _check_version(exchange, document)
    return person


async def _change_user(exchange: Exchange, person: ReceivedUser, told: people.ToldPerson) -> Answer:
    source = _caller(exchange).source
    await people.change(exchange.work, source, person, told)
    return await _answer_user(exchange, await people.get(exchange.work, source, person.id))


async def _answer_user(exchange: Exchange, person: ReceivedUser, *, status: int = 200) -> Answer:
    caller = _caller(exchange)
    [document] = await render_users(exchange.work, caller.source.pbm_uuid, caller.root, [person])
    return _answer(exchange, USERS, document, status)


@post(f"{ROOT}/.search", guards=_ONLY_IN)
async def search_everything(exchange: Exchange) -> Answer:
    """People, then groups."""
    caller, sent = _caller(exchange), await _body(exchange)
    source, root = caller.source.pbm_uuid, caller.root
    people_asked, groups_asked = (read_question(one, _given(sent)) for one in (USERS, GROUPS))
    found = await list_resources(exchange.work, source, root, PEOPLE, people_asked)
    groups_asked = msgspec.structs.replace(
        groups_asked,
        start=max(people_asked.start - found["totalResults"], 1),
        count=people_asked.count - found["itemsPerPage"],
    )
    more = await list_resources(exchange.work, source, root, GROUP_LIST, groups_asked)
    counted = {name: found[name] + more[name] for name in ("totalResults", "itemsPerPage", "Resources")}
    return _shown(found | counted)


# Groups


@get(f"{ROOT}/Groups", guards=_ONLY_IN)
async def list_groups(exchange: Exchange) -> Answer:
    return await _list(exchange, GROUP_LIST)


@post(f"{ROOT}/Groups/.search", guards=_ONLY_IN)
async def search_groups(exchange: Exchange) -> Answer:
    return await _search(exchange, GROUP_LIST)


@post(f"{ROOT}/Groups", guards=_ONLY_IN)
async def add_group(exchange: Exchange) -> Answer:
    caller, sent = _caller(exchange), await _body(exchange, GROUPS)
    told = groups.read_group(clean(GROUPS, sent, without=("members",)), groups.read_members(_members_in(sent)))
    id = await groups.add(exchange.work, caller.source, told, caller.group_matching_mode)
    return await _answer_group(exchange, await groups.get(exchange.work, caller.source, id), status=201)


@get(f"{ROOT}/Groups/{{id}}", guards=_ONLY_IN)
async def show_group(exchange: Exchange, id: FromPath[str]) -> Answer:
    return await _answer_group(exchange, await groups.get(exchange.work, _caller(exchange).source, read_uuid(id)))


@put(f"{ROOT}/Groups/{{id}}", guards=_ONLY_IN)
async def replace_group(exchange: Exchange, id: FromPath[str]) -> Answer:
    sent = await _body(exchange, GROUPS)
    told = groups.read_group(clean(GROUPS, sent, without=("members",)), groups.read_members(_members_in(sent)))
    group = await _hold_group(exchange, id)
    return await _change_group(exchange, group, told)


@patch(f"{ROOT}/Groups/{{id}}", guards=_ONLY_IN)
async def change_group(exchange: Exchange, id: FromPath[str]) -> Answer:
    operations = read_operations(GROUPS, await _body(exchange))
    group = await _hold_group(exchange, id)
    source = _caller(exchange).source.pbm_uuid
    held = (await store.members_of(exchange.work.db, source, [group.group]))[group.group]
    members = groups.patch_members([member for member, _ in held], operations)
    document: dict[str, Any] = {"displayName": group.name, "externalId": group.external_id}
    others = [one for one in operations if one.path.path.name.lower() != "members"]
    told = groups.read_group(clean(GROUPS, patched(GROUPS, document, others)), members)
    return await _change_group(exchange, group, told)


@delete(f"{ROOT}/Groups/{{id}}", guards=_ONLY_IN)
async def remove_group(exchange: Exchange, id: FromPath[str]) -> Answer:
    group = await _hold_group(exchange, id)
    await groups.remove(exchange.work, _caller(exchange).source, group)
    return Answer(204, ())


def _members_in(sent: dict[str, Any]) -> Any:
    return next((value for name, value in sent.items() if name.lower() == "members"), None)


async def _hold_group(exchange: Exchange, id: str) -> ReceivedGroup:
    caller, work = _caller(exchange), exchange.work
    await work.db.begin()
    await work.db.hold(f"scim:{caller.source.pbm_uuid}:{read_uuid(id)}")
    group = await groups.get(work, caller.source, read_uuid(id))
    if exchange.header(b"if-match"):
        [document] = await render_groups(work, caller.source.pbm_uuid, caller.root, [group])
        _check_version(exchange, document)
    return group


async def _change_group(exchange: Exchange, group: ReceivedGroup, told: groups.ToldGroup) -> Answer:
    source = _caller(exchange).source
    await groups.change(exchange.work, source, group, told)
    return await _answer_group(exchange, await groups.get(exchange.work, source, group.id))


async def _answer_group(exchange: Exchange, group: ReceivedGroup, *, status: int = 200) -> Answer:
    caller = _caller(exchange)
    [document] = await render_groups(exchange.work, caller.source.pbm_uuid, caller.root, [group])
    return _answer(exchange, GROUPS, document, status)


# What is not offered


@route(("GET", "POST", "PUT", "PATCH", "DELETE"), f"{ROOT}/Me", guards=_ONLY_IN)
async def refuse_me() -> Answer:
    raise ScimError("A source's token stands for no person, so there is no Me.", status=501)


@post(f"{ROOT}/Bulk", guards=_ONLY_IN)
async def refuse_bulk() -> Answer:
    raise ScimError("Bulk operations are not offered.", status=501)


# What all have in common


def _caller(exchange: Exchange) -> ScimCaller:
    caller: ScimCaller = exchange.caller
    return caller


async def _body(exchange: Exchange, kind: ResourceType | None = None) -> dict[str, Any]:
    content_type = exchange.header(b"content-type").decode("latin-1").partition(";")[0].strip().lower()
    if content_type and content_type not in _TYPES:
        raise UnsupportedMedia("The body must be application/scim+json.")
    raw = await exchange.body(MOST_BYTES)
    if not raw:
        raise Malformed("A JSON object is expected.")
    sent = parse_json(raw, _LIMITS)
    if kind is not None:
        named = sent.get("schemas")
        known = {one.lower() for one in named if isinstance(one, str)} if isinstance(named, list) else set()
        if kind.schema.id.lower() not in known:
            raise ScimError(f"The schemas of this resource must hold {kind.schema.id}.", "invalidSyntax")
    return sent


def _question(exchange: Exchange) -> dict[str, list[str]]:
    text = exchange.query_string.decode("latin-1")
    try:
        return parse_qs(text, keep_blank_values=True, max_num_fields=50)
    except ValueError as error:
        raise Malformed("There are too many parameters.") from error


async def _list(exchange: Exchange, listed: ListedKind[Any]) -> Answer:
    caller, given = _caller(exchange), _question(exchange)
    question = read_question(listed.kind, lambda name: given.get(name, [""])[0])
    return _shown(await list_resources(exchange.work, caller.source.pbm_uuid, caller.root, listed, question))


async def _search(exchange: Exchange, listed: ListedKind[Any]) -> Answer:
    """The same by POST (RFC 7644, section 3.4.3), so that no name gets into logs of addresses."""
    caller = _caller(exchange)
    question = read_question(listed.kind, _given(await _body(exchange)))
    return _shown(await list_resources(exchange.work, caller.source.pbm_uuid, caller.root, listed, question))


def _given(sent: dict[str, Any]) -> Callable[[str], str]:
    def find(name: str) -> str:
        value = sent.get(name)
        if isinstance(value, list):
            return ",".join(one for one in value if isinstance(one, str))
        return str(value) if isinstance(value, str | int) else ""

    return find


def _answer(exchange: Exchange, kind: ResourceType, document: dict[str, Any], status: int) -> Answer:
    given = _question(exchange)
    shown = read_shown(kind, *(given.get(name, [""])[0] for name in ("attributes", "excludedAttributes")))
    version, location = document["meta"]["version"], document["meta"]["location"]
    headers = ((b"content-type", SCIM_JSON), (b"etag", version.encode()), (b"location", location.encode()))
    if exchange.method == "GET" and _names_version(exchange.header(b"if-none-match"), version):
        return Answer(304, headers)
    return Answer(status, headers, msgspec.json.encode(project(kind, document, shown)))


def _check_version(exchange: Exchange, document: dict[str, Any]) -> None:
    if not _names_version(exchange.header(b"if-match"), document["meta"]["version"]):
        raise ScimError("It was changed since that version.", status=412)


def _names_version(given: bytes, version: str) -> bool:
    named = [one.strip().removeprefix("W/") for one in given.decode("latin-1").split(",")]
    return "*" in named or version.removeprefix("W/") in named


def _shown(document: dict[str, Any]) -> Answer:
    return Answer(200, ((b"content-type", SCIM_JSON),), msgspec.json.encode(document))


routes: tuple[Route, ...] = (
    show_config,
    list_resource_types,
    show_resource_type,
    list_schemas,
    show_schema,
    list_users,
    search_users,
    search_everything,
    add_user,
    show_user,
    replace_user,
    change_user,
    remove_user,
    list_groups,
    search_groups,
    add_group,
    show_group,
    replace_group,
    change_group,
    remove_group,
    refuse_me,
    refuse_bulk,
)
