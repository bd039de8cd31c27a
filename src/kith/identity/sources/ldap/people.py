"""People of a directory: what an entry says of one, and making that so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from kith.base.errors import Invalid
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.audit.private_values import told_changes
from kith.identity.mappings import service as mapping_service
from kith.identity.sources.connections import path_of
from kith.identity.sources.ldap import store
from kith.identity.sources.ldap.directory import DirectoryFailed
from kith.identity.sources.ldap.entries import DirectoryEntry, dn_key, is_disabled, password_set_at
from kith.identity.sources.ldap.progress import SyncProgress
from kith.identity.sources.ldap.settings import DirectorySource, FieldMapping
from kith.identity.sources.reach import BEYOND
from kith.identity.sources.tables import MOST_IN_IDENTIFIER, UserConnection
from kith.identity.users import address_ownership, former_names, service
from kith.identity.users import store as users
from kith.identity.users.identifying_attributes import complain_principal
from kith.identity.users.names import complain_email, complain_username, email_key, username_key
from kith.identity.users.passwords import Passwords
from kith.identity.users.tables import User

# What nearly all mappings are, and what need not be run in the sandbox.
_PLAIN = re.compile(r"""\s*return ldap\.get\((["'])([\w.;-]+)\1\)\s*""")
# For a directory whose source has no mappings.
_USUAL = {
    "username": ("sAMAccountName", "uid"),
    "name": ("displayName", "cn", "name"),
    "email": ("mail",),
}


class DirectoryPerson(msgspec.Struct, frozen=True, kw_only=True):
    identifier: str
    reference: str
    dn: str
    username: str
    name: str
    email: str
    attributes: dict[str, Any]
    is_disabled: bool
    password_set_at: datetime | None
    memberships: tuple[str, ...]


async def read_person(work: Work, directory: DirectorySource, entry: DirectoryEntry) -> DirectoryPerson | str:
    """What an entry says of a person, or why it is left out."""
    settings = directory.settings
    identifier = entry.first(settings.unique)
    if not 0 < len(identifier) <= MOST_IN_IDENTIFIER:
        return f"{entry.dn}: it has no {settings.unique}"
    fields = await _mapped(work, directory, entry)
    username = _text(fields.get("username"))
    if not username:
        return f"{entry.dn}: it has no user name"
    if complain_username(username) is not None:
        return f"{entry.dn}: {username[:80]} cannot be a user name"
    email = _text(fields.get("email"))
    attributes = fields.get("attributes")
    return DirectoryPerson(
        identifier=identifier,
        reference=reference_of(settings.member_name, entry.first(settings.member_name) or entry.dn),
        dn=entry.dn,
        username=username,
        name=_text(fields.get("name"))[:500] or username,
        email=email if complain_email(email) is None else "",
        attributes={
            **(attributes if isinstance(attributes, dict) else {}),
            "ldap_uniq": identifier,
            "distinguishedName": entry.dn,
        },
        is_disabled=is_disabled(entry),
        password_set_at=password_set_at(entry),
        memberships=tuple(dn_key(one) for one in entry.all(settings.memberships)),
    )


def reference_of(attribute: str, value: str) -> str:
    """What groups name a person by, in its normal form."""
    return dn_key(value) if attribute.lower() in ("dn", "distinguishedname") else value.casefold()[:MOST_IN_IDENTIFIER]


async def _mapped(work: Work, directory: DirectorySource, entry: DirectoryEntry) -> dict[str, Any]:
    if not directory.mappings:
        return {field: next(filter(None, map(entry.first, names)), "") for field, names in _USUAL.items()}
    fields: dict[str, Any] = {}
    for mapping in directory.mappings:
        value = await _evaluated(work, directory, mapping, entry)
        if isinstance(value, dict):
            _merge(fields, value)
        elif value not in (None, "", []):
            _put(fields, mapping.object_field, value)
    return fields


async def _evaluated(work: Work, directory: DirectorySource, mapping: FieldMapping, entry: DirectoryEntry) -> Any:
    plain = _PLAIN.fullmatch(mapping.expression)
    if plain is not None:
        found = entry.all(plain[2]) if plain[2].lower() in entry.raw else []
        return found[0] if len(found) == 1 else found
    source = directory.source
    given = {
        "ldap": entry.attributes(),
        "dn": entry.dn,
        "source": {"pk": source.pbm_uuid, "name": source.name, "slug": source.slug},
    }
    outcome = await mapping_service.evaluate(work, mapping.expression, None, given)
    if outcome.error is not None:
        if "SkipObject" in outcome.error:
            return {"username": ""}
        raise DirectoryFailed(f"the mapping {mapping.name} failed for {entry.dn}: {outcome.error}"[:500])
    return outcome.value


def _put(fields: dict[str, Any], name: str, value: Any) -> None:
    *path, last = name.split(".")
    for part in path:
        inner = fields.setdefault(part, {})
        if not isinstance(inner, dict):
            return
        fields = inner
    fields[last] = value


def _merge(fields: dict[str, Any], more: Mapping[str, Any]) -> None:
    for name, value in more.items():
        held = fields.get(name)
        if isinstance(held, dict) and isinstance(value, Mapping):
            _merge(held, value)
        elif value is not None:
            fields[name] = value


def _text(value: Any) -> str:
    """The first of several values; fields of a user have one."""
    if isinstance(value, list):
        value = value[0] if value else ""
    return str(value).replace("\0", "").strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


# Making it so


async def apply_page(
    work: Work, directory: DirectorySource, people: Sequence[DirectoryPerson], progress: SyncProgress
) -> dict[str, int]:
    """Make or change these people, in one transaction; who they are here, by their identifiers."""
    source = directory.source.pbm_uuid
    await work.db.begin()
    known = await store.connections(work.db, source, [one.identifier for one in people])
    here = await store.users_by_id(work.db, [one.user for one in known.values()])
    found: dict[str, int] = {}
    for person in people:
        connection = known.get(person.identifier)
        if connection is not None and _is_as_told(here[connection.user], person, connection, directory.source.pbm_uuid):
            found[person.identifier] = connection.user
            continue
        try:
            async with work.attempt():
                if connection is None:
                    user_id = await _add(work, directory, person, progress)
                else:
                    user_id = connection.user
                    await _change(work, directory, here[user_id], person, connection, progress)
        except Invalid as problem:
            progress.note(f"{person.username}: {_words(problem)}")
            continue
        if user_id is not None:
            found[person.identifier] = user_id
    await store.see_users(work.db, source, [one.identifier for one in people], progress.run)
    return found


def _words(problem: Invalid) -> str:
    return "; ".join(f"{name}: {' '.join(map(str, words))}" for name, words in problem.fields.items())


async def _add(work: Work, directory: DirectorySource, person: DirectoryPerson, progress: SyncProgress) -> int | None:
    source = directory.source
    user = await _match(work, source.user_matching_mode, person)
    if user is not None and not source.user_matching_mode.endswith("_link"):
        progress.note(f"{person.username}: somebody else has this name or address here")
        await _clash(work, directory, person)
        return None
    is_new = user is None
    if user is None:
        user = await _make(work, directory, person, progress)
        progress.users.create += 1
    elif not await directory.reach.holds_person(work, user.id):
        progress.note(f"{user.username}: {BEYOND}")
        return None
    else:
        await _write(work, directory, user, person, progress)
    await store.connect_user(
        work.db,
        source.pbm_uuid,
        user.id,
        person.identifier,
        person.reference,
        person.dn,
        progress.run,
        work.now,
        is_made_here=is_new,
    )
    return user.id


async def _match(work: Work, mode: str, person: DirectoryPerson) -> User | None:
    if mode.startswith("email"):
        owner = await users.owner_of(work.db, person.email)
        if owner is not None and owner.is_email_verified:
            return owner
        if mode == "email_link":
            return None
    return await users.find(work.db, person.username)


async def _clash(work: Work, directory: DirectorySource, person: DirectoryPerson) -> None:
    context = {
        "message": f"The directory has somebody called {person.username}, and there is another one here.",
        "source": {"pk": directory.source.pbm_uuid, "name": directory.source.name},
    }
    await audit.record(work, "configuration_error", "sources.ldap", context=context)


async def _make(work: Work, directory: DirectorySource, person: DirectoryPerson, progress: SyncProgress) -> User:
    gives = bool(person.email) and await directory.reach.gives_address(work, person.email, 0)
    email = person.email if gives else ""
    new = service.NewUser(username=person.username, name=person.name, email=email, confirmed=bool(email), enters=True)
    user = await service.create(work, work.find(Passwords), new, by_name="ldap")
    attributes = await _without_anothers(work, {}, person.attributes, user, progress)
    values: dict[str, Any] = {"attributes": attributes, "path": path_of(directory.source) or "users"}
    await users.write(work.db, user.id, values, work.now)
    if person.is_disabled:
        await service.set_active(work, user, False, by_name="ldap", source=directory.source.pbm_uuid)
    return user


async def _change(
    work: Work,
    directory: DirectorySource,
    user: User,
    person: DirectoryPerson,
    connection: UserConnection,
    progress: SyncProgress,
) -> None:
    if (connection.reference, connection.dn) != (person.reference, person.dn):
        await store.refer_user(work.db, connection.connection_uuid, person.reference, person.dn, work.now)
    if await directory.reach.holds_person(work, user.id):
        await _write(work, directory, user, person, progress)
    else:
        progress.note(f"{user.username}: {BEYOND}")


def changes_of(user: User, person: DirectoryPerson, source: str) -> dict[str, Any]:
    """What the directory of `source` says otherwise than it is stored."""
    changed: dict[str, Any] = {}
    if person.username != user.username:
        changed["username"] = person.username
    if person.name != user.name:
        changed["name"] = person.name
    if person.email and email_key(person.email) != user.email_key:
        changed["email"] = person.email
    if service.may_set_active(user, not person.is_disabled, source):
        changed["is_active"] = not person.is_disabled
    attributes = {**user.attributes, **person.attributes}
    if attributes != user.attributes:
        changed["attributes"] = attributes
    return changed


def _is_as_told(user: User, person: DirectoryPerson, connection: UserConnection, source: str) -> bool:
    if (connection.reference, connection.dn) != (person.reference, person.dn) or _has_newer_password(user, person):
        return False
    return not changes_of(user, person, source)


def _has_newer_password(user: User, person: DirectoryPerson) -> bool:
    """Whether the directory has a newer password than the one that is kept here."""
    if person.password_set_at is None or user.password is None:
        return False
    return user.password_changed_at is None or user.password_changed_at < person.password_set_at


async def _without_anothers(
    work: Work, before: Mapping[str, Any], after: Mapping[str, Any], user: User, progress: SyncProgress
) -> dict[str, Any]:
    """The attributes with the `upn` of before where the new one is somebody else's."""
    kept = dict(after)
    complaint = await complain_principal(work, before, after, user.id)
    if complaint is not None:
        progress.note(f"{user.username}: {after['upn']}: {complaint}")
        del kept["upn"]
        kept |= {"upn": before["upn"]} if "upn" in before else {}
    return kept


async def _write(
    work: Work, directory: DirectorySource, user: User, person: DirectoryPerson, progress: SyncProgress
) -> None:
    """Somebody whom the directory has disabled is let in again when it lets them in, and nobody else is."""
    changed = changes_of(user, person, directory.source.pbm_uuid)
    if _has_newer_password(user, person):
        await service.retire_password(work, user)
    if "attributes" in changed:
        kept = await _without_anothers(work, user.attributes, changed.pop("attributes"), user, progress)
        changed |= {"attributes": kept} if kept != user.attributes else {}
    if not changed:
        return
    progress.users.update += 1
    active, email = changed.pop("is_active", None), changed.pop("email", None)
    if "username" in changed:
        other = await users.find(work.db, person.username)
        if other is not None and other.id != user.id:
            progress.note(f"{user.username}: it is now called {person.username}, which somebody else is called here")
            del changed["username"]
        elif await address_ownership.complain_called(work, person.username, user.id) is not None:
            progress.note(f"{user.username}: it is now called {person.username}, which is somebody else's address here")
            del changed["username"]
        else:
            await former_names.keep(work.db, user.id)
            changed["username_key"] = username_key(person.username)
    if email is not None and not await _give_address(work, directory, user, email):
        progress.note(f"{user.username}: {email} belongs to another account")
    if changed:
        await users.write(work.db, user.id, changed, work.now)
    if active is not None:
        source = directory.source.pbm_uuid
        await service.set_active(work, user, active, by_name="ldap", lifts_end=False, source=source)
    diff = told_changes(work, user.id, {name: getattr(user, name, None) for name in changed}, changed)
    model = {"app": "core", "model_name": "user", "pk": user.id, "name": user.username}
    await audit.record(work, "model_updated", "sources.ldap", username="ldap", context={"model": model, "diff": diff})
    work.announce(service.UserChanged(user_id=user.id))


async def _give_address(work: Work, directory: DirectorySource, user: User, email: str) -> bool:
    gives = await directory.reach.gives_address(work, email, user.id)
    return gives and await address_ownership.prove(work, user, email)


async def rehearse_page(
    work: Work, directory: DirectorySource, people: Sequence[DirectoryPerson], progress: SyncProgress
) -> None:
    """Count what `apply_page` would do."""
    known = await store.connections(work.db, directory.source.pbm_uuid, [one.identifier for one in people])
    here = await store.users_by_id(work.db, [one.user for one in known.values()])
    for person in people:
        progress.seen_users.add(person.identifier)
        connection = known.get(person.identifier)
        if connection is not None:
            differs = bool(changes_of(here[connection.user], person, directory.source.pbm_uuid))
            progress.users.update += differs and await directory.reach.holds_person(work, connection.user)
            continue
        user = await _match(work, directory.source.user_matching_mode, person)
        if user is None:
            progress.users.create += 1
        elif not directory.source.user_matching_mode.endswith("_link"):
            progress.note(f"{person.username}: somebody else has this name or address here")
        elif not await directory.reach.holds_person(work, user.id):
            progress.note(f"{user.username}: {BEYOND}")
        else:
            progress.users.update += 1
