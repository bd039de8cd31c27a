"""People whom a service writes: made, changed, disabled and deleted as it says."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import msgspec

from kith.base.db import Taken
from kith.base.errors import Invalid
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.audit.private_values import told_changes
from kith.identity.groups import store as group_store
from kith.identity.scim.errors import ScimError, invalid_value, taken
from kith.identity.sources import store as source_store
from kith.identity.sources.connections import path_of
from kith.identity.sources.reach import BEYOND, reach_of
from kith.identity.sources.scim import store
from kith.identity.sources.scim.tables import ReceivedUser
from kith.identity.sources.store import Source
from kith.identity.sources.tables import MOST_IN_IDENTIFIER
from kith.identity.users import address_ownership, former_names, service
from kith.identity.users import store as users
from kith.identity.users.names import MOST_IN_NAME, complain_email, complain_username, email_key, username_key
from kith.identity.users.passwords import Passwords
from kith.identity.users.tables import User

APP = "sources.scim"
_OWN = ("userName", "active", "externalId")  # what is not kept in the document


class ToldPerson(msgspec.Struct, frozen=True, kw_only=True):
    """What a service says of a person; `active` is None where it says nothing."""

    username: str
    name: str
    email: str
    active: bool | None
    external_id: str | None
    document: dict[str, Any]


def read_person(document: Mapping[str, Any]) -> ToldPerson:
    """From a document that was cleaned."""
    username, external_id = str(document["userName"]), document.get("externalId")
    complaint = complain_username(username)
    if complaint is not None:
        raise invalid_value(f"userName: {complaint}")
    email = primary_email(document)
    return ToldPerson(
        username=username,
        name=_name(document)[:MOST_IN_NAME] or username,
        email=email if complain_email(email) is None else "",
        active=document.get("active"),
        external_id=read_external_id(external_id),
        document={name: value for name, value in document.items() if name not in _OWN},
    )


def read_external_id(given: Any) -> str | None:
    if given is not None and len(given) > MOST_IN_IDENTIFIER:
        raise invalid_value(f"externalId has no more than {MOST_IN_IDENTIFIER} characters.")
    return given or None


def _name(document: Mapping[str, Any]) -> str:
    name = document.get("name") or {}
    parts = " ".join(part for part in (name.get("givenName"), name.get("familyName")) if part)
    return str(document.get("displayName") or name.get("formatted") or parts).strip()


def primary_email(document: Mapping[str, Any]) -> str:
    """The primary address, else the first."""
    listed = [one for one in document.get("emails", ()) if one.get("value")]
    primary = [one for one in listed if one.get("primary") is True]
    return str((primary or listed or [{"value": ""}])[0]["value"]).strip()


def writable(person: ReceivedUser) -> dict[str, Any]:
    """The document as the service would send it again."""
    own: dict[str, Any] = {"userName": person.username, "active": person.is_active}
    if person.external_id is not None:
        own["externalId"] = person.external_id
    return {**own, **person.document}


async def add(work: Work, source: Source, told: ToldPerson) -> str:
    """Make a person, or link one that the source's matching mode finds; the id of the resource."""
    await work.db.begin()
    await _refuse_taken(work, source, told.external_id, None)
    user = await _match(work, source, told)
    is_new = user is None
    if user is None:
        user = await _make(work, source, told)
    id = str(uuid.uuid4())
    connected = await source_store.add_connection(
        work.db, source, user.id, told.external_id or id, None, work.now, id=id, is_made_here=is_new
    )
    if not connected:
        raise taken("Somebody has this externalId already.")
    await store.add_user(
        work.db,
        {
            "id": id,
            "source": source.pbm_uuid,
            "external_id": told.external_id,
            "document": told.document,
            "is_made_here": is_new,
            "created_at": work.now,
            "updated_at": work.now,
        },
    )
    if not is_new:
        await _write(work, source, user, told)
    elif told.active is False:
        await service.set_active(work, user, False, by_name="scim", source=source.pbm_uuid)
    return id


async def _refuse_taken(work: Work, source: Source, external_id: str | None, id: str | None) -> None:
    if external_id is None:
        return
    found = await store.users_with(work.db, source.pbm_uuid, "externalId", external_id)
    if any(one.id != id for one in found):
        raise taken("Somebody has this externalId already.")


async def _match(work: Work, source: Source, told: ToldPerson) -> User | None:
    """Whoever is here already and is meant; staff can be linked by hand only."""
    mode = source.user_matching_mode
    found = await users.find(work.db, told.username)
    owner = await users.owner_of(work.db, told.email) if told.email and mode.startswith("email") else None
    if owner is not None and owner.is_email_verified:
        if mode == "email_deny":
            raise taken("Somebody here has this e-mail address.")
        if found is None or found.id == owner.id:
            found = owner
        else:
            raise taken("Somebody else here has this userName.")
    elif found is not None and mode != "username_link":
        raise taken("Somebody here has this userName.")
    if found is None:
        return None
    is_mighty = found.role != "user" or await group_store.is_mighty(work.db, found.id)
    is_mighty = is_mighty or not await (await reach_of(work, source)).holds_person(work, found.id)
    if is_mighty or await store.connection_of(work.db, source.pbm_uuid, found.id) is not None:
        raise taken("Somebody here has this userName or address, and cannot be linked to it.")
    return found


async def _make(work: Work, source: Source, told: ToldPerson) -> User:
    gives = bool(told.email) and await (await reach_of(work, source)).gives_address(work, told.email, 0)
    email = told.email if gives else ""
    new = service.NewUser(username=told.username, name=told.name, email=email, confirmed=bool(email), enters=True)
    try:
        user = await service.create(work, work.find(Passwords), new, by_name="scim")
    except Invalid as problem:
        if any(getattr(one, "code", "") == "taken" for words in problem.fields.values() for one in words):
            raise taken("Somebody here has this userName or e-mail address.") from problem
        raise
    values: dict[str, Any] = {"attributes": {"scim": told.document}, "path": path_of(source) or "users"}
    await users.write(work.db, user.id, values, work.now)
    return user


async def change(work: Work, source: Source, person: ReceivedUser, told: ToldPerson) -> None:
    await work.db.begin()
    await _refuse_taken(work, source, told.external_id, person.id)
    user = await users.get(work.db, person.user)
    if _differs(source, user, told):
        await _refuse_beyond(work, source, user)
    try:
        await store.write_user(work.db, person.id, told.external_id, told.document, work.now)
    except Taken as error:
        raise taken("Somebody has this externalId already.") from error
    await _write(work, source, user, told)


def _differs(source: Source, user: User, told: ToldPerson) -> bool:
    """Whether the service says anything of the person that is otherwise here."""
    is_renamed = told.username != user.username or told.name != user.name
    is_turned = told.active is not None and service.may_set_active(user, told.active, source.pbm_uuid)
    has_moved = bool(told.email) and email_key(told.email) != user.email_key
    return is_renamed or is_turned or has_moved or user.attributes.get("scim") != told.document


async def _refuse_beyond(work: Work, source: Source, user: User) -> None:
    if not await (await reach_of(work, source)).holds_person(work, user.id):
        raise ScimError(f"{user.username} {BEYOND}.", status=403)


async def _write(work: Work, source: Source, user: User, told: ToldPerson) -> None:
    changed: dict[str, Any] = {}
    if told.username != user.username:
        other = await users.find(work.db, told.username)
        if other is not None and other.id != user.id:
            raise taken("Somebody here has this userName.")
        if await address_ownership.complain_called(work, told.username, user.id) is not None:
            raise taken("Somebody here has this userName as their e-mail address.")
        await former_names.keep(work.db, user.id)
        changed |= {"username": told.username, "username_key": username_key(told.username)}
    if told.name != user.name:
        changed["name"] = told.name
    attributes = {**user.attributes, "scim": told.document}
    if attributes != user.attributes:
        changed["attributes"] = attributes
    if told.email and email_key(told.email) != user.email_key:
        reach = await reach_of(work, source)
        if await reach.gives_address(work, told.email, user.id):
            await address_ownership.prove(work, user, told.email)
    if changed:
        try:
            await users.write(work.db, user.id, changed, work.now)
        except Taken as error:
            raise taken("Somebody here has this userName.") from error
        diff = told_changes(work, user.id, {name: getattr(user, name, None) for name in changed}, changed)
        await _record(work, "model_updated", user, diff=diff)
    if told.active is not None:
        id = source.pbm_uuid
        await service.set_active(work, user, told.active, by_name="scim", lifts_end=False, source=id)
    work.announce(service.UserChanged(user_id=user.id))


async def remove(work: Work, source: Source, person: ReceivedUser) -> None:
    """Delete an account that the service has made; one that was here before is disabled, and unlinked."""
    await work.db.begin()
    user = await users.get(work.db, person.user)
    await _refuse_beyond(work, source, user)
    if person.is_made_here and user.role == "user" and not await group_store.is_mighty(work.db, user.id):
        await _record(work, "model_deleted", user, source={"pk": source.pbm_uuid, "name": source.name})
        work.announce(service.UserDeleted(user_id=user.id))
        await users.remove(work.db, user.id)
        return
    await store.forget_user(work.db, person.id)
    await service.set_active(work, user, False, by_name="scim", source=source.pbm_uuid)


async def _record(work: Work, action: str, user: User, **context: Any) -> None:
    model = {"app": "core", "model_name": "user", "pk": user.id, "name": user.username}
    await audit.record(work, action, APP, username="scim", context={"model": model, **context})


async def get(work: Work, source: Source, id: str | None) -> ReceivedUser:
    found = await store.find_user(work.db, source.pbm_uuid, id) if id is not None else None
    if found is None:
        raise ScimError("There is no such user.", status=404)
    return found
