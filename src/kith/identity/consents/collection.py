"""/core/user_consent/: what people have allowed applications to know. People see and withdraw their own."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.types import TypeEngine

from kith.base.db import Document, any_of, query
from kith.base.work import Work
from kith.identity.applications.tables import applications
from kith.identity.caller import ApiCaller
from kith.identity.consents import store
from kith.identity.consents.service import ConsentWithdrawn
from kith.identity.consents.tables import consents
from kith.identity.rest import READ, Resource
from kith.identity.rest.fields import Computed, Field, Moment, Reference
from kith.identity.rest.record import Record


class WordList(Field, frozen=True, kw_only=True):
    """A stored list that is shown as words with blanks between them."""

    read_only: bool = True

    @property
    def is_scalar(self) -> bool:
        return False

    def holds(self) -> str:
        return "str | list[str]"

    def sql_type(self) -> TypeEngine[Any]:
        return Document()

    def shape(self) -> dict[str, Any]:
        return {"type": "string"}


FIELDS = (
    Reference(name="user", to="identity_users.id", integer=True, read_only=True, stored_as="user_id"),
    Reference(name="application", to="identity_applications.pbm_uuid", read_only=True),
    Computed(name="application_name", form={"type": "string"}),
    WordList(name="permissions", help="The scopes that were allowed, separated by blanks."),
    Moment(name="expires", null=True, read_only=True, stored_as="expires_at"),
    Computed(name="expiring", form={"type": "boolean"}),
)


class UserConsentRecord(Record, kw_only=True):
    pk: str
    consent_uuid: str
    user: int
    application: str
    application_name: str = ""
    permissions: str | list[str]
    expires: datetime | None
    expiring: bool = False
    created: datetime


_names = query(
    select(applications.c.pbm_uuid, applications.c.name).where(any_of(applications.c.pbm_uuid, "ids")), tuple
)
_name = select(applications.c.name).where(applications.c.pbm_uuid == consents.c.application).scalar_subquery()


async def decorate(work: Work, records: list[UserConsentRecord]) -> None:
    names: dict[str, str] = dict(await work.db.all(_names, ids=[record.application for record in records]))
    own = await store.names_of_apps(work.db, [record.consent_uuid for record in records])
    for record in records:
        record.application_name = own.get(record.consent_uuid) or names.get(record.application, "")
        record.permissions = " ".join(record.permissions)
        record.expiring = record.expires is not None


async def removing(work: Work, record: UserConsentRecord, _caller: ApiCaller) -> None:
    """Announce that the consent is withdrawn: the application's tokens end."""
    app_id = await store.app_of(work.db, record.consent_uuid)
    work.announce(ConsentWithdrawn(user_id=record.user, application=record.application, app_id=app_id))


RESOURCE = Resource(
    path="/core/user_consent/",
    name="UserConsent",
    record=UserConsentRecord,
    key="consent_uuid",
    table=consents,
    fields=FIELDS,
    search=(_name,),
    order=("created",),
    exact=("user", "application"),
    allow=READ | {"delete"},
    label="application_name",
    own="user",
    removing=removing,
    decorate=decorate,
)
