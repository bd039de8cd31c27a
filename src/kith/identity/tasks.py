"""Identity's periodic work."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity.access_requests import expiry as access_requests
from kith.identity.audit import store as audit
from kith.identity.consents import store as consents
from kith.identity.event_notifications import store as notifications
from kith.identity.event_notifications.tasks import KEPT as NOTIFICATIONS_KEPT
from kith.identity.guessing import store as guessing
from kith.identity.links import service as links
from kith.identity.policies import reputation_scores
from kith.identity.providers.oauth2 import store as oauth
from kith.identity.providers.oauth2.grants import visits
from kith.identity.providers.saml import store as saml
from kith.identity.refusals import store as refusals
from kith.identity.refusals.service import MOST_KEPT
from kith.identity.saml import store as saml_messages
from kith.identity.sessions import store as sessions
from kith.identity.sessions.service import MOST_ANONYMOUS
from kith.identity.signups import store as signups
from kith.identity.sources import store as sources
from kith.identity.tokens import store as tokens

UNCONFIRMED_LIFE = timedelta(days=7)  # then the name is free again


class IdentitySweep(msgspec.Struct):
    """Deletes what has expired."""


async def sweep(work: Work, _payload: IdentitySweep) -> None:
    await audit.delete_expired(work.db, work.now)
    await notifications.delete_old(work.db, work.now - NOTIFICATIONS_KEPT)
    await tokens.delete_expired(work.db, work.now)
    await sessions.delete_expired(
        work.db, work.now, stale_before=work.now - timedelta(hours=6), most_anonymous=MOST_ANONYMOUS
    )
    await links.delete_expired(work.db, work.now)
    await guessing.forget_old(work.db, work.now)
    if work.settings.confirm_email:
        await signups.delete_unconfirmed(work.db, work.now - UNCONFIRMED_LIFE)
    await consents.delete_expired(work.db, work.now)
    await visits.delete_idle(work, work.now - timedelta(days=1))
    await saml.sweep(work.db, work.now)
    await saml_messages.sweep(work.db, work.now)
    await oauth.sweep(work.db, work.now, before=work.now - timedelta(days=1))
    await sources.delete_expired(work.db, work.now)
    await reputation_scores.delete_expired(work)
    await access_requests.forget_old(work)
    await refusals.delete_expired(work.db, work.now, most=MOST_KEPT)


SWEEP: JobKind[IdentitySweep] = JobKind(name="identity.sweep", payload=IdentitySweep, handler=sweep)
