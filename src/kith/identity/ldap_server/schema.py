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
    ("1.3.6.1.1.20", "entryDN"), ("2.5.4.10", "o"), ("2.5.4.13", "description"), ("2.5.4.20", "telephoneNumber"),
    ("2.5.4.35", "userPassword"), ("2.16.840.1.113730.3.1.3", "employeeNumber"), ("2.5.4.12", "title"),
    ("2.5.18.9", "hasSubordinates"), ("2.5.21.9", "structuralObjectClass"), ("2.5.18.10", "subschemaSubentry"),
    ("2.5.18.1", "createTimestamp"), ("2.5.18.2", "modifyTimestamp"),
    # What clients that check names ask of the root and of this entry itself.
    ("2.5.21.1", "dITStructureRules"), ("2.5.21.2", "dITContentRules"), ("2.5.21.4", "matchingRules"),
    ("2.5.21.5", "attributeTypes"), ("2.5.21.6", "objectClasses"), ("2.5.21.7", "nameForms"),
    ("2.5.21.8", "matchingRuleUse"), ("1.3.6.1.4.1.1466.101.120.16", "ldapSyntaxes"),
    ("1.3.6.1.4.1.1466.101.120.5", "namingContexts"), ("1.3.6.1.4.1.1466.101.120.6", "altServer"),
    ("1.3.6.1.4.1.1466.101.120.7", "supportedExtension"), ("1.3.6.1.4.1.1466.101.120.13", "supportedControl"),
    ("1.3.6.1.4.1.1466.101.120.14", "supportedSASLMechanisms"),
    ("1.3.6.1.4.1.1466.101.120.15", "supportedLDAPVersion"), ("1.3.6.1.4.1.4203.1.3.5", "supportedFeatures"),
    ("1.3.6.1.1.4", "vendorName"), ("1.3.6.1.1.5", "vendorVersion"),
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
    ("2.5.6.4", "organization", "SUP top STRUCTURAL MUST o"),
    ("0.9.2342.19200300.100.4.13", "domain", "SUP top STRUCTURAL MUST dc"),
    ("1.2.840.113556.1.3.23", "container", "SUP top STRUCTURAL MUST cn"),
    ("1.2.840.113556.1.5.9", "user", "SUP organizationalPerson STRUCTURAL MAY sAMAccountName"),
    ("1.2.840.113556.1.5.8", "group", "SUP top STRUCTURAL MAY ( member $ sAMAccountName )"),
    ("kithPerson-oid", "kithPerson", "SUP top AUXILIARY"),
    ("kithGroup-oid", "kithGroup", "SUP top AUXILIARY"),
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


def describe(mapped: Sequence[str]) -> LdapEntry:
    """`mapped` are attributes that mappings give; names without a number are written as other servers write them."""
    known = {name.lower() for _, name in _ATTRIBUTES}
    more = [(f"{name}-oid", name) for name in mapped if name.lower() not in known]
    listed = (*_ATTRIBUTES, *more)
    attributes = [f"( {oid} NAME '{name}' SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 )" for oid, name in listed]
    classes = [f"( {oid} NAME '{name}' {rest} )" for oid, name, rest in _CLASSES]
    found = {"objectClass": ["top", "subschema"], "cn": ["subschema"]}
    return LdapEntry(NAME, found | {"attributeTypes": attributes, "objectClasses": classes})
