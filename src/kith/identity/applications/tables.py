from __future__ import annotations

from sqlalchemy import Column, ForeignKey

from kith.base.db import UID
from kith.identity.rest import link_table, record_table
from kith.identity.rest.fields import URL, Boolean, Choice, Computed, Reference, References, Slug, Text

_IDS = {"type": "array", "items": {"type": "string", "format": "uuid"}, "uniqueItems": True}

# Providers that tell services of people without anybody entering. Each belongs to one application at most.
backchannel_links = link_table(
    "identity_application_backchannel_providers",
    "identity_applications.pbm_uuid",
    "identity_providers.id",
    other_integer=True,
)

FIELDS = (
    Text(name="name", required=True),
    Slug("slug", required=True, unique=True),
    Reference(
        name="provider",
        null=True,
        to="identity_providers.id",
        integer=True,
        unique=True,
        help="What lets people in; a provider belongs to one application at most.",
    ),
    References(
        name="backchannel_providers",
        to="identity_providers.id",
        integer=True,
        link=backchannel_links,
        where=(("kind", "scim"),),
        most=100,
        help="Providers that tell services of whoever may open this.",
    ),
    URL(name="meta_launch_url", default="", most=200),
    Text(name="meta_icon_url", default="", most=2000),
    Text(name="meta_description", default=""),
    Text(name="meta_publisher", default=""),
    Text(name="group", default="", most=255, help="The heading under which it is listed."),
    Choice(name="policy_engine_mode", default="all", choices=("all", "any")),
    Boolean(name="open_in_new_tab", default=False),
    Boolean(name="meta_hide", default=False, help="True: not on the start page."),
    Computed(name="launch_url", form={"type": "string"}),
    Computed(name="policies", form=_IDS),
)

applications = record_table(
    "identity_applications",
    Column("pbm_uuid", UID, ForeignKey("identity_policy_targets.pbm_uuid", ondelete="CASCADE"), primary_key=True),
    fields=FIELDS,
)
