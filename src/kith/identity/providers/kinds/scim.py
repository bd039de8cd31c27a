"""An application that is told of people and groups over SCIM, as they change."""

from __future__ import annotations

import msgspec

from kith.base.work import Work
from kith.identity.providers import assigned_applications
from kith.identity.providers.family import MAPPING, NAME, ProviderRecord, family_of
from kith.identity.rest import RecordDraft, Resource, kind_table, link_table
from kith.identity.rest.fields import URL, Boolean, Choice, Computed, Reference, References, Secret, Text

_FAMILY = family_of(mappings="scim", name=Text(name=NAME.name, required=True, most=255))
_WORD = {"type": ["string", "null"]}

group_mappings = link_table(
    "identity_providers_scim_group_mappings", "identity_providers.id", MAPPING, owner_integer=True, holds=True
)

FIELDS = (
    URL(name="url", required=True, most=2000, help="The other service's root, such as https://app.example/scim/v2."),
    Secret(name="token", required=True, most=4000, sent_to=("url",), help="The bearer token that it wants."),
    Boolean(name="exclude_users_service_account", default=True, help="True: service accounts are not told of."),
    Reference(
        name="filter_group",
        null=True,
        to="identity_groups.group_uuid",
        on_delete="RESTRICT",
        help="Only its members, and only it and the groups below it, are told of. Null: everybody who may enter.",
    ),
    Choice(
        name="deprovision",
        default="delete",
        choices=("delete", "deactivate"),
        help="What happens there to whoever may not enter any more.",
    ),
    References(
        name="property_mappings_group",
        to=MAPPING,
        link=group_mappings,
        where=(("kind", "scim"),),
        help="For groups; `property_mappings` are for people. Without any, the shipped ones are used.",
    ),
    Computed(name="assigned_backchannel_application_slug", form=_WORD),
    Computed(name="assigned_backchannel_application_name", form=_WORD),
)


class SCIMProvider(ProviderRecord, kw_only=True):
    url: str
    exclude_users_service_account: bool
    filter_group: str | None
    deprovision: str
    property_mappings_group: list[str] = msgspec.field(default_factory=list)
    assigned_backchannel_application_slug: str | None = None
    assigned_backchannel_application_name: str | None = None


async def check(draft: RecordDraft[SCIMProvider]) -> None:
    if draft.sets("url"):
        draft.now.url = draft.now.url.rstrip("/")
        if "?" in draft.now.url or "#" in draft.now.url:
            draft.complain("url", "Enter a URL without a query.")
    if draft.sets("token") and not is_header_value(draft.values["token"] or ""):
        draft.complain("token", "A token has no spaces and only ASCII characters.")


def is_header_value(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token


async def saved(draft: RecordDraft[SCIMProvider]) -> None:
    """What was saved may change who is told of, and what."""
    from kith.identity.providers.scim.waiting import begin_sweep  # noqa: PLC0415 - it knows this page

    await begin_sweep(draft.work, draft.id, again_whole=not draft.is_new)


async def decorate(work: Work, records: list[SCIMProvider]) -> None:
    await assigned_applications.tell_applications(work, records)
    found = await assigned_applications.backchannel_applications(work, [record.pk for record in records])
    for record in records:
        slug, name = found.get(record.pk, (None, None))
        record.assigned_backchannel_application_slug = slug
        record.assigned_backchannel_application_name = name


scim_providers = kind_table("identity_providers_scim", _FAMILY, FIELDS)

RESOURCE = Resource(
    path="/providers/scim/",
    name="SCIMProvider",
    record=SCIMProvider,
    key="id",
    family=_FAMILY,
    kind="scim",
    table=scim_providers,
    fields=(*FIELDS, *assigned_applications.FIELDS),
    exact=("name", "url"),
    prepare=check,
    saved=saved,
    decorate=decorate,
)
