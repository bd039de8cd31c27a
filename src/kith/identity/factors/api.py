"""/authenticators/admin/: other people's second factors, for the team: seen, and removed when they are lost."""

from __future__ import annotations

from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.caller import ApiCaller
from kith.identity.factors import service, store
from kith.identity.factors.tables import Factor
from kith.identity.reauthentication import refuse_app_password
from kith.identity.rest import Action
from kith.identity.rest.answers import NOTHING, show
from kith.identity.rest.fields import read_uuid
from kith.identity.sessions.service import end_all
from kith.identity.users import store as users
from kith.identity.users.privileges import refuse_if_above

VIEW, REMOVE = "core.view_user", "core.remove_user_factor"
KINDS = ("totp", "static", "webauthn")


async def list_factors(exchange: Exchange, caller: ApiCaller, _id: str) -> Answer:
    """Those of one person, whom `user` names; one's own where nobody is named."""
    user = exchange.query("user") or str(caller.id)
    if not user.isascii() or not user.isdecimal() or len(user) > 9:
        raise Invalid(user="A valid integer is required.")
    return show([_shown(one) for one in await store.of_user(exchange.work.db, int(user))])


def _shown(factor: Factor) -> dict[str, object]:
    return {
        "pk": factor.device_uuid,
        "name": factor.name,
        "type": factor.kind,
        "confirmed": factor.confirmed,
        "created": factor.created_at,
        "last_used": factor.last_used_at,
        "user": factor.user_id,
    }


def _remove(kind: str) -> Action:
    async def remove(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
        """Its owner is told, and signed out everywhere: whoever has found it may be signed in with it."""
        work = exchange.work
        device = read_uuid(id)
        factor = None if device is None else await store.find(work.db, device)
        if factor is None or factor.kind != kind:
            raise NotFound
        await refuse_if_above(work, caller, factor.user_id, "remove a sign-in method of")
        refuse_app_password(caller)
        if factor.user_id == caller.id:
            raise Invalid(user="Remove your own sign-in methods in your settings.")
        user = await users.get(work.db, factor.user_id)
        await service.take_away(work, user, factor.device_uuid, by=caller.id, by_name=caller.username)
        await end_all(work, user.id)
        return NOTHING

    return Action(
        method="DELETE",
        path=f"/authenticators/admin/{kind}/{{id}}/",
        name=f"authenticators_admin_{kind}_destroy",
        handler=remove,
        permission=REMOVE,
        status=204,
        summary="Remove a person's sign-in method.",
    )


ACTIONS = (
    Action(
        method="GET",
        path="/authenticators/admin/all/",
        name="authenticators_admin_all_list",
        handler=list_factors,
        permission=VIEW,
        summary="A person's sign-in methods.",
    ),
    *(_remove(kind) for kind in KINDS),
)
