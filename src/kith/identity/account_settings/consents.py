"""What people have allowed applications to know of them, and taking it back."""

from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import select

from kith.base.db import any_of, query
from kith.base.errors import NotFound
from kith.base.work import Work
from kith.identity.account_settings.visitor import Visitor
from kith.identity.applications.tables import applications
from kith.identity.audit import service as audit
from kith.identity.consents import store
from kith.identity.consents.service import ConsentWithdrawn
from kith.identity.messages import service as messages

_names = query(
    select(applications.c.pbm_uuid, applications.c.name).where(any_of(applications.c.pbm_uuid, "ids")), tuple
)


class ConsentSummary(msgspec.Struct, frozen=True):
    consent_uuid: str
    application: str
    application_uuid: str
    app_id: int | None
    permissions: list[str]
    created_at: datetime
    expires_at: datetime | None


async def list_consents(work: Work, me: Visitor) -> list[ConsentSummary]:
    found = await store.of_user(work.db, me.user.id, work.now)
    names: dict[str, str] = dict(await work.db.all(_names, ids=[one.application for one in found])) if found else {}
    own = await store.names_of_apps(work.db, [one.consent_uuid for one in found])
    return [
        ConsentSummary(
            one.consent_uuid,
            own.get(one.consent_uuid) or names.get(one.application, ""),
            one.application,
            one.app_id,
            one.permissions,
            one.created_at,
            one.expires_at,
        )
        for one in found
    ]


async def withdraw_consent(work: Work, me: Visitor, consent_uuid: str) -> None:
    """Take a consent back: the application's tokens end, and it must ask again the next time it is opened."""
    mine = {one.consent_uuid: one for one in await list_consents(work, me)}
    if consent_uuid not in mine or not await store.withdraw(work.db, me.user.id, consent_uuid):
        raise NotFound("This consent was already withdrawn")
    given = mine[consent_uuid]
    work.announce(ConsentWithdrawn(user_id=me.user.id, application=given.application_uuid, app_id=given.app_id))
    model = {"app": "consents", "model_name": "consent", "pk": consent_uuid, "name": given.application}
    await audit.record(
        work,
        "model_deleted",
        "core.consents",
        user_id=me.user.id,
        username=me.user.username,
        context={"model": model, "permissions": given.permissions},
    )
    await messages.leave(work, me.user.id, "Your consent was withdrawn.", "success")
