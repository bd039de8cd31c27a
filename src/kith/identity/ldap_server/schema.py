"""What everybody may read: what the server can do, and which attributes and classes there are."""

from __future__ import annotations

from collections.abc import Sequence

from kith import __version__
from kith.identity.ldap_server.entries import LdapEntry

__all__ = ["NAME", "describe", "root"]

NAME = "cn=subschema"
_PAGED, _START_TLS, _WHO_AM_I = "1.2.840.113556.1.4.319", "1.3.6.1.4.1.1466.20037", "1.3.6.1.4.1.4203.1.11.3"
_ATTRIBUTES = (
    ("2.5.4.0", "objectClass"), ("2.5.4.3", "cn"), ("2.5.4.4", "sn"), ("2.5.4.11", "ou"), ("2.5.4.31", "member"),
    ("2.5.4.41", "name"), ("2.5.4.42", "givenName"), ("2.5.4.50", "uniqueMember"),
    ("0.9.2342.19200300.100.1.1", "uid"), ("0.9.2342.19200300.100.1.3", "mail"), ("0.9.2342.19200300.100.1.25", "dc"),
    ("2.16.840.1.113730.3.1.241", "displayName"), ("1.2.840.113556.1.2.102", "memberOf"),
    ("1.2.840.113556.1.4.221", "sAMAccountName"), ("1.3.6.1.1.1.1.0", "uidNumber"), ("1.3.6.1.1.1.1.1", "gidNumber"),
    ("1.3.6.1.1.1.1.3", "homeDirectory"), ("1.3.6.1.1.1.1.12", "memberUid"), ("1.3.6.1.1.16.4", "entryUUID"),
    ("1.3.6.1.1.20", "entryDN"),
)  # fmt: skip
_CLASSES = (
    ("2.5.6.0", "top", "ABSTRACT MUST objectClass"),
    ("2.5.6.6", "person", "SUP top STRUCTURAL MUST ( sn $ cn )"),
    ("2.5.6.7", "organizationalPerson", "SUP person STRUCTURAL"),
    ("2.16.840.1.113730.3.2.2", "inetOrgPerson", "SUP organizationalPerson STRUCTURAL MAY ( givenName $ mail $ uid )"),
    ("1.3.6.1.1.1.2.0", "posixAccount", "SUP top AUXILIARY MUST ( cn $ uid $ uidNumber $ gidNumber $ homeDirectory )"),
    ("2.5.6.9", "groupOfNames", "SUP top STRUCTURAL MUST ( member $ cn )"),
    ("2.5.6.17", "groupOfUniqueNames", "SUP top STRUCTURAL MUST ( uniqueMember $ cn )"),
    ("1.3.6.1.1.1.2.2", "posixGroup", "SUP top AUXILIARY MUST ( cn $ gidNumber ) MAY memberUid"),
    ("2.5.6.5", "organizationalUnit", "SUP top STRUCTURAL MUST ou"),
    ("0.9.2342.19200300.100.4.13", "domain", "SUP top STRUCTURAL MUST dc"),
)  # fmt: skip


def root(bases: Sequence[str], *, has_tls: bool) -> LdapEntry:
    extensions = [_WHO_AM_I, *([_START_TLS] if has_tls else [])]
    return LdapEntry(
        "",
        {
            "objectClass": ["top"],
            "namingContexts": list(bases),
            "supportedLDAPVersion": ["3"],
            "supportedControl": [_PAGED],
            "supportedExtension": extensions,
            "subschemaSubentry": [NAME],
            "vendorName": ["Kith"],
            "vendorVersion": [__version__],
        },
    )


def describe() -> LdapEntry:
    attributes = [f"( {oid} NAME '{name}' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )" for oid, name in _ATTRIBUTES]
    classes = [f"( {oid} NAME '{name}' {rest} )" for oid, name, rest in _CLASSES]
    found = {"objectClass": ["top", "subschema"], "cn": ["subschema"]}
    return LdapEntry(NAME, found | {"attributeTypes": attributes, "objectClasses": classes})
