"""For apps that signed somebody up: the confirming mail once more, and whether it was answered."""

from __future__ import annotations

import msgspec

from kith.base.routing import FromRequest, get, post
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.guards import TheCaller, TheMember, user


class EmailForm(msgspec.Struct, kw_only=True):
    email: str | None = None


@post("/api/v1/emails/confirmations", status=200, guards=[user("write:accounts", unconfirmed=True)])
async def send_again(
    work: Work,
    me: TheMember,
    caller: TheCaller,
    draft: FromRequest[EmailForm],
) -> dict[str, str]:
    email = draft.email.strip() if draft.email else None
    await identity.send_confirmation(work, me.id, caller.app_id, email)
    return {}


@get("/api/v1/emails/check_confirmation", guards=[user("read:accounts", unconfirmed=True)])
async def check_confirmation(work: Work, me: TheMember) -> bool:
    return await identity.is_confirmed(work, me.id)


routes = [send_again, check_confirmation]
