"""The mappings that Kith ships. Missing ones are made at the start, existing ones are kept."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, select, update

from kith.base.db import UID, command, query
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.mappings.family import mappings
from kith.identity.mappings.kinds import ldap, saml, scim, scope
from kith.identity.rest import operations
from kith.identity.rest.record_store import RecordStore

SYSTEM = ApiCaller(id=0, username="kith", role="owner", permissions=None, way="system")
_RECORDS: dict[str, RecordStore[Any]] = {
    "scope": RecordStore(scope.RESOURCE),
    "saml": RecordStore(saml.RESOURCE),
    "ldap": RecordStore(ldap.RESOURCE),
    "scim": RecordStore(scim.RESOURCE),
}
_PREFIX = "kith.dev"

PROFILE = """words = user.name.split(" ")
return {
    "name": user.name,
    "given_name": words[0],
    "family_name": " ".join(words[1:]),
    "preferred_username": user.username,
    "nickname": user.username,
    "groups": [group.name for group in user.groups],
}"""
ENTITLEMENTS = """names = [one.name for one in entitlements]
return {"entitlements": names, "roles": names}"""
_GROUPS = "return [group.name for group in user.groups]"

SCIM_PERSON = """words = user.name.split(" ")
person = {
    "userName": user.username,
    "externalId": user.uid,
    "displayName": user.name,
    "name": {"formatted": user.name, "givenName": words[0], "familyName": " ".join(words[1:]) or words[0]},
    "active": True,
}
if user.email:
    person["emails"] = [{"value": user.email, "type": "other", "primary": True}]
return person"""
SCIM_GROUP = 'return {"displayName": group.name, "externalId": group.pk}'

# Kind, managed name, fields.
SHIPPED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("scope", "providers/oauth2/scope-openid", {
        "name": "OpenID: openid", "scope_name": "openid", "expression": "return {}",
    }),
    ("scope", "providers/oauth2/scope-email", {
        "name": "OpenID: email", "scope_name": "email", "description": "Your e-mail address",
        "expression": 'return {"email": user.email, "email_verified": user.email_verified}',
    }),
    ("scope", "providers/oauth2/scope-profile", {
        "name": "OpenID: profile", "scope_name": "profile", "description": "Your name, user name and groups",
        "expression": PROFILE,
    }),
    ("scope", "providers/oauth2/scope-groups", {
        "name": "OpenID: groups", "scope_name": "groups", "description": "Your groups",
        "expression": 'return {"groups": [group.name for group in user.groups]}',
    }),
    ("scope", "providers/oauth2/scope-entitlements", {
        "name": "OpenID: entitlements", "scope_name": "entitlements",
        "description": "What you may do in the application", "expression": ENTITLEMENTS,
    }),
    ("scope", "providers/oauth2/scope-offline_access", {
        "name": "OpenID: offline_access", "scope_name": "offline_access",
        "description": "Access while you are away", "expression": "return {}",
    }),
    ("saml", "providers/saml/upn", {
        "name": "SAML: UPN", "saml_name": "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn",
        "expression": 'return user.attributes.get("upn", user.email)',
    }),
    ("saml", "providers/saml/name", {
        "name": "SAML: name", "saml_name": "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name",
        "expression": "return user.name",
    }),
    ("saml", "providers/saml/email", {
        "name": "SAML: e-mail address",
        "saml_name": "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
        "expression": "return user.email",
    }),
    ("saml", "providers/saml/username", {
        "name": "SAML: user name", "saml_name": "http://schemas.goauthentik.io/2021/02/saml/username",
        "expression": "return user.username",
    }),
    ("saml", "providers/saml/uid", {
        "name": "SAML: user id", "saml_name": "http://schemas.goauthentik.io/2021/02/saml/uid",
        "expression": "return user.pk",
    }),
    ("saml", "providers/saml/groups", {
        "name": "SAML: groups", "saml_name": "http://schemas.xmlsoap.org/claims/Group", "expression": _GROUPS,
    }),
    ("saml", "providers/saml/windows-account-name", {
        "name": "SAML: Windows account name",
        "saml_name": "http://schemas.microsoft.com/ws/2008/06/identity/claims/windowsaccountname",
        "expression": "return user.username",
    }),
    ("saml", "providers/saml/cn", {
        "name": "SAML: cn", "saml_name": "urn:oid:2.5.4.3", "friendly_name": "cn", "expression": "return user.name",
    }),
    ("saml", "providers/saml/mail", {
        "name": "SAML: mail", "saml_name": "urn:oid:0.9.2342.19200300.100.1.3", "friendly_name": "mail",
        "expression": "return user.email",
    }),
    ("saml", "providers/saml/oid-uid", {
        "name": "SAML: uid", "saml_name": "urn:oid:0.9.2342.19200300.100.1.1", "friendly_name": "uid",
        "expression": "return user.username",
    }),
    ("saml", "providers/saml/edu-person-principal-name", {
        "name": "SAML: eduPersonPrincipalName", "saml_name": "urn:oid:1.3.6.1.4.1.5923.1.1.1.6",
        "friendly_name": "eduPersonPrincipalName", "expression": "return user.email",
    }),
    ("saml", "providers/saml/display-name", {
        "name": "SAML: displayName", "saml_name": "urn:oid:2.16.840.1.113730.3.1.241",
        "friendly_name": "displayName", "expression": "return user.username",
    }),
    ("saml", "providers/saml/member-of", {
        "name": "SAML: member-of", "saml_name": "member-of", "friendly_name": "member-of", "expression": _GROUPS,
    }),
    ("saml", "providers/saml/edu-person-entitlement", {
        "name": "SAML: entitlements", "saml_name": "urn:oid:1.3.6.1.4.1.5923.1.1.1.7",
        "friendly_name": "eduPersonEntitlement", "expression": "return [one.name for one in entitlements]",
    }),
    ("ldap", "sources/ldap/name", {
        "name": "LDAP: name", "object_field": "name", "expression": 'return ldap.get("name")',
    }),
    ("ldap", "sources/ldap/mail", {
        "name": "LDAP: mail", "object_field": "email", "expression": 'return ldap.get("mail")',
    }),
    ("ldap", "sources/ldap/sam-account-name", {
        "name": "Active Directory: sAMAccountName", "object_field": "username",
        "expression": 'return ldap.get("sAMAccountName")',
    }),
    ("ldap", "sources/ldap/user-principal-name", {
        "name": "Active Directory: userPrincipalName", "object_field": "attributes.upn",
        "expression": 'return ldap.get("userPrincipalName")',
    }),
    ("ldap", "sources/ldap/given-name", {
        "name": "Active Directory: givenName", "object_field": "attributes.givenName",
        "expression": 'return ldap.get("givenName")',
    }),
    ("ldap", "sources/ldap/sn", {
        "name": "Active Directory: sn", "object_field": "attributes.sn", "expression": 'return ldap.get("sn")',
    }),
    ("ldap", "sources/ldap/openldap-uid", {
        "name": "OpenLDAP: uid", "object_field": "username", "expression": 'return ldap.get("uid")',
    }),
    ("ldap", "sources/ldap/openldap-cn", {
        "name": "OpenLDAP: cn", "object_field": "name", "expression": 'return ldap.get("cn")',
    }),
    ("scim", "providers/scim/user", {"name": "SCIM: person", "expression": SCIM_PERSON}),
    ("scim", "providers/scim/group", {"name": "SCIM: group", "expression": SCIM_GROUP}),
)  # fmt: skip

_managed = query(select(mappings.c.managed).where(mappings.c.managed.is_not(None)), str)
_manage = command(
    update(mappings).where(mappings.c.pm_uuid == bindparam("mapping", type_=UID())).values(managed=bindparam("name"))
)


async def ensure(work: Work) -> int:
    """Make the missing mappings; returns how many."""
    await work.db.begin()
    known = set(await work.db.all(_managed))
    made = 0
    for kind, name, fields in SHIPPED:
        managed = f"{_PREFIX}/{name}"
        if managed not in known:
            record = await operations.create(_RECORDS[kind], work, SYSTEM, fields)
            await work.db.run(_manage, mapping=record.pk, name=managed)
            made += 1
    return made
