"""The schemas of people and groups (RFC 7643, section 4), as Kith holds them.

Passwords are not among them: people sign in through another source, or set one by the link that they are sent.
"""

from __future__ import annotations

from kith.identity.scim.attributes import ResourceSchema, ResourceType, ScimAttribute

USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group"
ENTERPRISE_SCHEMA = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
LIST_RESPONSE = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
PATCH_OP = "urn:ietf:params:scim:api:messages:2.0:PatchOp"


def _several(name: str, help: str, value: ScimAttribute, words: tuple[str, ...] = ()) -> ScimAttribute:
    """An attribute of which people have several, one of them the primary one."""
    return ScimAttribute(
        name=name,
        help=help,
        type="complex",
        many=True,
        sub=(
            value,
            ScimAttribute(name="display", help="For people to read."),
            ScimAttribute(name="type", help="What it is for.", words=words),
            ScimAttribute(name="primary", type="boolean", help="Whether it is the one to prefer."),
        ),
    )


_VALUE = ScimAttribute(name="value")

USER = ResourceSchema(
    id=USER_SCHEMA,
    name="User",
    help="A person",
    attributes=(
        ScimAttribute(
            name="userName",
            required=True,
            uniqueness="server",
            help="Letters, digits and @/./+/-/_; it is also the name to sign in with.",
        ),
        ScimAttribute(
            name="name",
            type="complex",
            help="The parts of the person's name",
            sub=tuple(
                ScimAttribute(name=name)
                for name in (
                    "formatted",
                    "familyName",
                    "givenName",
                    "middleName",
                    "honorificPrefix",
                    "honorificSuffix",
                )
            ),
        ),
        ScimAttribute(name="displayName", help="The name that is shown."),
        ScimAttribute(name="nickName"),
        ScimAttribute(name="profileUrl", type="reference", references=("external",)),
        ScimAttribute(name="title"),
        ScimAttribute(name="userType"),
        ScimAttribute(name="preferredLanguage"),
        ScimAttribute(name="locale"),
        ScimAttribute(name="timezone"),
        ScimAttribute(name="active", type="boolean", help="False: everything of the person ends at once."),
        _several("emails", "E-mail addresses; the primary one counts here.", _VALUE, ("work", "home", "other")),
        _several("phoneNumbers", "Phone numbers", _VALUE, ("work", "home", "mobile", "fax", "pager", "other")),
        _several("ims", "Addresses for instant messages", _VALUE),
        _several(
            "photos",
            "Addresses of pictures",
            ScimAttribute(name="value", type="reference", references=("external",)),
            ("photo", "thumbnail"),
        ),
        ScimAttribute(
            name="addresses",
            type="complex",
            many=True,
            help="Postal addresses",
            sub=(
                *(
                    ScimAttribute(name=name)
                    for name in ("formatted", "streetAddress", "locality", "region", "postalCode", "country")
                ),
                ScimAttribute(name="type", words=("work", "home", "other")),
                ScimAttribute(name="primary", type="boolean"),
            ),
        ),
        ScimAttribute(
            name="groups",
            type="complex",
            many=True,
            mutability="readOnly",
            help="The groups of this source that the person is in; changed at the groups.",
            sub=(
                ScimAttribute(name="value", exact=True, mutability="readOnly"),
                ScimAttribute(name="$ref", type="reference", references=("Group",), mutability="readOnly", exact=True),
                ScimAttribute(name="display", mutability="readOnly"),
                ScimAttribute(name="type", mutability="readOnly", words=("direct", "indirect")),
            ),
        ),
        _several("entitlements", "What the person is entitled to", _VALUE),
        _several("roles", "The person's roles elsewhere; they grant nothing here.", _VALUE),
        _several(
            "x509Certificates", "Certificates in DER, as base64", ScimAttribute(name="value", type="binary", exact=True)
        ),
    ),
)

ENTERPRISE = ResourceSchema(
    id=ENTERPRISE_SCHEMA,
    name="EnterpriseUser",
    help="What a company knows of a person",
    attributes=(
        ScimAttribute(name="employeeNumber"),
        ScimAttribute(name="costCenter"),
        ScimAttribute(name="organization"),
        ScimAttribute(name="division"),
        ScimAttribute(name="department"),
        ScimAttribute(
            name="manager",
            type="complex",
            sub=(
                ScimAttribute(name="value", exact=True),
                ScimAttribute(name="$ref", type="reference", references=("User",), exact=True),
                ScimAttribute(name="displayName", mutability="readOnly"),
            ),
        ),
    ),
)

GROUP = ResourceSchema(
    id=GROUP_SCHEMA,
    name="Group",
    help="A group of people",
    attributes=(
        ScimAttribute(name="displayName", required=True, uniqueness="server", help="At most 80 characters."),
        ScimAttribute(
            name="members",
            type="complex",
            many=True,
            help="People of this source.",
            sub=(
                ScimAttribute(name="value", exact=True, mutability="immutable"),
                ScimAttribute(name="$ref", type="reference", references=("User",), mutability="immutable", exact=True),
                ScimAttribute(name="type", mutability="immutable", words=("User",)),
            ),
        ),
    ),
)

USERS = ResourceType(name="User", endpoint="/Users", help="People", schema=USER, extension=ENTERPRISE)
GROUPS = ResourceType(name="Group", endpoint="/Groups", help="Groups", schema=GROUP)
