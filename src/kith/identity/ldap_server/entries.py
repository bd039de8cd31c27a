"""People and groups as entries of the tree: their names and their attributes."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.identity.distinguished_names import join, read_name, squeezed
from kith.identity.ldap_server.store import TreeGroup, TreePerson, TreeProvider

__all__ = [
    "Attributes",
    "EntryLookup",
    "LdapEntry",
    "canonical_dn",
    "group_dn",
    "group_entry",
    "is_attribute_name",
    "person_dn",
    "person_entry",
    "unit_entry",
]

Attributes = dict[str, list[str]]

PERSON_CLASSES = ["top", "person", "organizationalPerson", "inetOrgPerson", "user", "posixAccount", "kithPerson"]
GROUP_CLASSES = ["top", "group", "groupOfNames", "groupOfUniqueNames", "posixGroup", "kithGroup"]
UNIT_CLASSES = {"ou": ["top", "organizationalUnit"], "dc": ["top", "domain"], "o": ["top", "organization"]}
# What is kept beside an entry and shown only to whoever asks for it.
OPERATIONAL = frozenset({"entrydn", "entryuuid", "hassubordinates", "structuralobjectclass", "subschemasubentry"})
MEMBERS = frozenset({"member", "uniquemember"})
DN_VALUES = MEMBERS | {"memberof", "entrydn"}
OF_PEOPLE = frozenset({"givenname", "homedirectory", "sn", "uid", "uidnumber"})  # no group has them
# Names under which others look for an address: only a proven one is shown, and by us.
ADDRESSES = frozenset({"mail", "rfc822mailbox", "email", "emailaddress", "userprincipalname"})
MOST_OWN_VALUES = 100
_NUMBERS = 1 << 29


class LdapEntry(msgspec.Struct, frozen=True):
    dn: str
    attributes: Attributes


def users_dn(provider: TreeProvider) -> str:
    return f"ou=users,{provider.base_dn}"


def groups_dn(provider: TreeProvider) -> str:
    return f"ou=groups,{provider.base_dn}"


def person_dn(provider: TreeProvider, username: str) -> str:
    return join("cn", username, users_dn(provider))


def group_dn(provider: TreeProvider, name: str) -> str:
    return join("cn", name, groups_dn(provider))


def person_entry(
    provider: TreeProvider, person: TreePerson, groups: Sequence[str], withheld: frozenset[str]
) -> LdapEntry:
    """`withheld` are attributes by which gateways sign in elsewhere: a bind by anybody would show them."""
    name = person.name or person.username
    given, _, family = name.rpartition(" ")
    dn = person_dn(provider, person.username)
    number = str(provider.uid_start_number + person.id)
    attributes: Attributes = {
        "objectClass": PERSON_CLASSES,
        "cn": [person.username],
        "uid": [person.username],
        "sAMAccountName": [person.username],
        "name": [name],
        "displayName": [name],
        "givenName": [given or name],
        "sn": [family or name],
        "uidNumber": [number],
        "gidNumber": [number],
        "homeDirectory": [f"/home/{person.username}"],
        "memberOf": [group_dn(provider, one) for one in groups],
        "entryUUID": [person.uuid],
        "entryDN": [dn],
        "structuralObjectClass": ["inetOrgPerson"],
        "hasSubordinates": ["FALSE"],
    }
    if person.email and person.owned_email_key is not None:
        attributes["mail"] = [person.email]
    return LdapEntry(dn, _with_own(attributes, person.attributes, ADDRESSES | withheld))


def group_entry(provider: TreeProvider, group: TreeGroup, people: Sequence[str], withheld: frozenset[str]) -> LdapEntry:
    dn = group_dn(provider, group.name)
    members = [person_dn(provider, one) for one in people]
    attributes: Attributes = {
        "objectClass": GROUP_CLASSES,
        "cn": [group.name],
        "sAMAccountName": [group.name],
        "member": members,
        "uniqueMember": members,
        "memberUid": list(people),
        "gidNumber": [str(provider.gid_start_number + uuid.UUID(group.group_uuid).int % _NUMBERS)],
        "entryUUID": [group.group_uuid],
        "entryDN": [dn],
        "structuralObjectClass": ["groupOfNames"],
        "hasSubordinates": ["FALSE"],
    }
    return LdapEntry(dn, _with_own(attributes, group.attributes, OF_PEOPLE | withheld))


def unit_entry(dn: str, kind: str, value: str) -> LdapEntry:
    """What people and groups hang from."""
    classes = UNIT_CLASSES.get(kind, ["top", "container"])
    found = {"objectClass": classes, kind: [value], "entryDN": [dn], "hasSubordinates": ["TRUE"]}
    return LdapEntry(dn, found)


def _with_own(attributes: Attributes, own: Mapping[str, Any], never: frozenset[str]) -> Attributes:
    """What was noted of a person or group is shown too, where it is a text and no name of ours."""
    taken = {name.lower() for name in attributes} | never | {"userpassword"}
    for name, value in own.items():
        if not is_attribute_name(name) or name.lower() in taken:
            continue
        values = [text for one in (value if isinstance(value, list) else [value]) if (text := _text(one)) is not None]
        if values:
            attributes[name] = values[:MOST_OWN_VALUES]
            taken.add(name.lower())
    return attributes


def is_attribute_name(name: str) -> bool:
    return name.isascii() and name[:1].isalpha() and len(name) <= 100 and name.replace("-", "").isalnum()


def _text(value: object) -> str | None:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(value) if isinstance(value, str | int) and value != "" else None


def canonical_dn(text: str) -> str:
    """A name in the form in which names are compared."""
    name = read_name(text)
    return ",".join(f"{kind}={value}" for kind, value in name) if name else text


class EntryLookup:
    """What filters ask of an entry. A filter may ask the same a hundred times, and a group may have everybody in it."""

    def __init__(self, entry: LdapEntry) -> None:
        self._values = {name.lower(): values for name, values in entry.attributes.items()}
        self._known: dict[str, frozenset[str]] = {}

    def __call__(self, name: str) -> frozenset[str]:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = frozenset(self._compared(name, self._values.get(name, ())))
        return found

    def _compared(self, name: str, values: Sequence[str]) -> Sequence[str]:
        if name in MEMBERS and values:  # named by us, all in the same way, so that one name says how the others end
            above = canonical_dn(values[0]).partition(",")[2]
            return [f"cn={squeezed(one)},{above}" for one in self._values["memberuid"]]
        return [canonical_dn(one) if name in DN_VALUES else squeezed(one) for one in values]
