"""A person's own second factors: listing, renaming and removing them, and the flows in which more are set up."""

from __future__ import annotations

import msgspec
from sqlalchemy import select

from kith.base.db import query
from kith.base.errors import Conflict, NotFound
from kith.base.work import Work
from kith.identity.account_settings.visitor import Visitor
from kith.identity.audit import service as audit
from kith.identity.factors import service, store
from kith.identity.factors.tables import Factor
from kith.identity.flows.resources import flows
from kith.identity.messages import service as messages
from kith.identity.stages.kinds import otp_static, otp_time, password, webauthn
from kith.identity.users import store as users

# The set-up flow of each kind of factor, from its stages.
_set_up = {
    kind: query(
        select(flows.c.slug)
        .join(page.RESOURCE.table, page.RESOURCE.table.c.configure_flow == flows.c.flow_uuid)
        .order_by(flows.c.slug)
        .limit(1),
        str,
    )
    for kind, page in (("password", password), ("totp", otp_time), ("static", otp_static), ("webauthn", webauthn))
    if page.RESOURCE.table is not None
}


class FactorSummary(msgspec.Struct):
    """A factor as its owner sees it; `left` is the number of unused codes in a list of codes."""

    factor: Factor
    left: int | None = None


async def list_devices(work: Work, me: Visitor) -> list[FactorSummary]:
    found = await store.of_user(work.db, me.user.id)
    return [
        FactorSummary(one, await store.codes_left(work.db, one.device_uuid) if one.kind == "static" else None)
        for one in found
    ]


async def set_up_flows(work: Work) -> dict[str, str]:
    """The slug of the flow in which each kind is set up, where there is one."""
    found: dict[str, str] = {}
    for kind, statement in _set_up.items():
        slug = await work.db.one(statement)
        if slug is not None:
            found[kind] = slug
    return found


async def get_device(work: Work, me: Visitor, device_uuid: str) -> Factor:
    for one in await store.of_user(work.db, me.user.id):
        if one.device_uuid == device_uuid:
            return one
    raise NotFound("This sign-in method was already removed")


async def rename_device(work: Work, me: Visitor, device_uuid: str, name: str) -> None:
    factor = await get_device(work, me, device_uuid)
    await service.rename(work, me.user, device_uuid, name)
    model = {"app": "factors", "model_name": factor.kind, "pk": device_uuid, "name": name}
    diff = audit.difference({"name": factor.name}, {"name": name})
    await audit.record(
        work,
        "model_updated",
        "core.factors",
        user_id=me.user.id,
        username=me.user.username,
        context={"model": model, "diff": diff},
    )


async def remove_device(work: Work, me: Visitor, device_uuid: str) -> None:
    user = await users.hold(work.db, me.user.id)  # of two ways in that are given up at once, the second one stays
    factor = await get_device(work, me, device_uuid)
    others = [one for one in await store.of_user(work.db, user.id) if one.device_uuid != device_uuid]
    if user.password is None and not any(one.kind == "webauthn" for one in others):
        raise Conflict("This is your only way to sign in. Set a password or add another passkey first.")
    await service.remove(work, user, factor.device_uuid)
    await messages.leave(work, me.user.id, "The sign-in method was removed.", "success")
