"""A service that writes people and groups here by itself, over SCIM."""

from __future__ import annotations

import hashlib
import secrets

import msgspec
from sqlalchemy import Column, String

from kith.base.work import Work
from kith.identity.flows.resources import bound_policies
from kith.identity.rest import RecordDraft, Resource, kind_table
from kith.identity.rest.fields import Choice, Computed
from kith.identity.sources.family import SOURCES, SourceRecord
from kith.identity.sources.reach import remember_setter

PREFIX = "kith_scim_"

FIELDS = (
    Choice(
        name="group_matching_mode",
        default="identifier",
        choices=("identifier", "name_link", "name_deny"),
        help="name_link: a group of the same name here is taken over, unless it makes superusers.",
    ),
    Computed(name="root_url", form={"type": "string", "description": "The address to give to the service."}),
    Computed(
        name="token",
        form={"type": "string", "description": "The key to give to the service, only in the answer that made it."},
    ),
)


class SCIMSource(SourceRecord, kw_only=True):
    group_matching_mode: str
    root_url: str = ""
    token: str | msgspec.UnsetType = msgspec.UNSET  # only in the answer that made it


def new_token() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def root_url(base_url: str, slug: str) -> str:
    return f"{base_url}/source/scim/{slug}/v2"


async def check(draft: RecordDraft[SCIMSource]) -> None:
    remember_setter(draft)
    if draft.is_new:
        token = new_token()
        draft.columns["token_hash"] = token_hash(token)
        draft.once["token"] = token


async def decorate(work: Work, records: list[SCIMSource]) -> None:
    for record in records:
        record.root_url = root_url(work.settings.base_url, record.slug)
    await bound_policies(work, records)


scim_sources = kind_table("identity_sources_scim", SOURCES, FIELDS, Column("token_hash", String(64), nullable=False))

RESOURCE = Resource(
    path="/sources/scim/",
    name="SCIMSource",
    record=SCIMSource,
    key="pbm_uuid",
    family=SOURCES,
    kind="scim",
    table=scim_sources,
    fields=FIELDS,
    target=True,
    search=("name", "slug"),
    exact=("name", "slug", "enabled"),
    prepare=check,
    decorate=decorate,
)
