"""Whether what made a registration still holds: a client that somebody registered lets nobody in without them.

It is asked about whenever the client is used, so that nothing is left over where nobody thought of it. The policies
of the application are not: they judge a person who is there, and may say something else at another hour.
"""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.providers.oauth2.tables import App
from kith.identity.rights import rights_of
from kith.identity.users import store as users
from kith.identity.users.able_people import find_able
from kith.identity.users.tables import User


def right_to_register(kind: str) -> str:
    """The right that a registrar needs with providers of this kind."""
    return f"providers.change_{kind}provider"


async def is_suspended(work: Work, app: App, kind: str) -> bool:
    """Whether the client may do nothing now, of a provider of this kind."""
    if app.suspended_at is not None:
        return True
    if app.registered_by is None:
        return False
    registrar = await find_able(work, app.registered_by)
    return registrar is None or not await may_register(work, registrar, kind)


async def may_register(work: Work, registrar: User, kind: str) -> bool:
    rights = await rights_of(work.db, registrar.id, registrar.role)
    return rights is None or right_to_register(kind) in rights


async def has_token(work: Work, app: App) -> bool:
    """Whether the registration access token is still good: it ends with the registrar, and a new password of theirs."""
    if app.registered_by is None:
        return True
    registrar, issued_at = await users.find_by_id(work.db, app.registered_by), app.registration_at or app.created_at
    return registrar is not None and issued_at >= (registrar.password_changed_at or issued_at)
