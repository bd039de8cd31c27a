"""What becomes of the clients of somebody who is deleted: they end, as nobody answers for them any more.

They let nobody in from the moment of the deletion; this job ends what is left of them.
"""

from __future__ import annotations

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.registration.management import end
from kith.identity.users.service import UserDeleted

AT_ONCE = 20


async def _on_user_deleted(work: Work, fact: UserDeleted) -> None:
    found = await store.registered_by(work.db, fact.user_id, AT_ONCE)
    for app in found:
        await end(work, app)
    if len(found) == AT_ONCE:
        work.enqueue(REGISTRAR_DELETED, fact)


REGISTRAR_DELETED: JobKind[UserDeleted] = JobKind(
    name="identity.oauth_registrar_deleted", payload=UserDeleted, handler=_on_user_deleted
)
