"""/core/brands/: which brand is shown under which name of the server."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, and_, bindparam, func, select

from kith.base.db import UID, query
from kith.base.work import Work
from kith.identity.brands.facts import BrandChanged
from kith.identity.brands.fields import BrandPicture, Domain, StyleSheet
from kith.identity.caller import ApiCaller
from kith.identity.rest import RecordDraft, Resource, record_table
from kith.identity.rest.fields import Boolean, Object, Reference, Text
from kith.identity.rest.record import Record

MOST_BRANDS = 500
_FLOW = "identity_flows.flow_uuid"


def _flow(name: str, designation: str, help: str) -> Reference:
    where = (("designation", designation),)
    return Reference(name=f"flow_{name}", null=True, to=_FLOW, on_delete="RESTRICT", where=where, help=help)


FIELDS = (
    Domain(name="domain", required=True, unique=True, help="For this host and all below it."),
    Boolean(name="default", default=False, help="For all hosts that no brand is for. One brand at most."),
    Text(name="branding_title", default="", most=255, help="The server's title (KITH_TITLE) when left empty."),
    BrandPicture(name="branding_logo", default=""),
    BrandPicture(name="branding_favicon", default=""),
    StyleSheet(
        name="branding_custom_css", default="", help="Added to the style of all pages. Only superusers change it."
    ),
    _flow("authentication", "authentication", "How people sign in here; the first that fits when left out."),
    _flow("invalidation", "invalidation", "How people sign out."),
    _flow("recovery", "recovery", "What people do who forgot their password."),
    _flow("unenrollment", "unenrollment", "How people delete their account."),
    _flow("user_settings", "stage_setup", "Where people change what is known of them; linked from their settings."),
    _flow("device_code", "stage_setup", "What somebody passes before they enter the code of a device."),
    Reference(
        name="default_application",
        null=True,
        to="identity_applications.pbm_uuid",
        help="Where external users are sent from the start page.",
    ),
    Reference(
        name="web_certificate",
        null=True,
        to="identity_keypairs.kp_uuid",
        help="For whatever speaks TLS in front of Kith, which itself speaks plain HTTP.",
    ),
    Object(name="attributes", private=True),
)


class BrandRecord(Record, kw_only=True):
    pk: str
    brand_uuid: str
    domain: str
    default: bool
    branding_title: str
    branding_logo: str
    branding_favicon: str
    branding_custom_css: str
    flow_authentication: str | None
    flow_invalidation: str | None
    flow_recovery: str | None
    flow_unenrollment: str | None
    flow_user_settings: str | None
    flow_device_code: str | None
    default_application: str | None
    web_certificate: str | None
    attributes: dict[str, Any]
    created: datetime
    last_updated: datetime


brands = record_table("identity_brands", Column("brand_uuid", UID, primary_key=True), fields=FIELDS)

_other_default = query(
    select(brands.c.brand_uuid).where(and_(brands.c.default, brands.c.brand_uuid != bindparam("but", type_=UID()))),
    str,
)
_counted = query(select(func.count()).select_from(brands), int)
NO_BRAND = "00000000-0000-0000-0000-000000000000"


async def count(work: Work) -> int:
    return await work.db.one(_counted) or 0


async def check(draft: RecordDraft[BrandRecord]) -> None:
    db = draft.work.db
    await db.hold("identity.brands")
    if draft.now.default and await db.one(_other_default, but=draft.id or NO_BRAND) is not None:
        draft.complain("default", "Only a single brand can be set as default.")
    if draft.is_new and await count(draft.work) >= MOST_BRANDS:
        draft.complain("", f"There can be no more than {MOST_BRANDS} brands.")


async def saved(draft: RecordDraft[BrandRecord]) -> None:
    draft.work.announce(BrandChanged())


async def removing(work: Work, _record: BrandRecord, _caller: ApiCaller) -> None:
    work.announce(BrandChanged())


RESOURCE = Resource(
    path="/core/brands/",
    name="Brand",
    record=BrandRecord,
    key="brand_uuid",
    table=brands,
    fields=FIELDS,
    search=("domain", "branding_title"),
    order=("domain",),
    exact=(
        "domain", "default", "branding_title", "flow_authentication", "flow_invalidation", "flow_recovery",
        "flow_unenrollment", "flow_user_settings", "flow_device_code", "default_application", "web_certificate",
    ),
    label="domain",
    prepare=check,
    saved=saved,
    removing=removing,
)  # fmt: skip
