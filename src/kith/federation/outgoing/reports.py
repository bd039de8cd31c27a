"""Reports that their maker wants the other servers to hear of. Who made them is not told."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.delivery.service import deliver
from kith.federation.outgoing import recipients
from kith.federation.outgoing.telling import find_elsewhere
from kith.federation.vocabulary.outgoing import activities
from kith.social.ids import StatusId
from kith.social.moderation import store
from kith.social.moderation.facts import ReportCreated
from kith.social.statuses import store as statuses

__all__ = ["KINDS"]


async def tell_of_report(work: Work, fact: ReportCreated) -> None:
    """To the server of whoever is reported, and to those of people whom the reported posts answer, as chosen."""
    report = await store.find_report(work.db, fact.report_id)
    if report is None or not report.forwarded:
        return
    target = await find_elsewhere(work, report.target_id)
    if target is None:
        return
    posts = await statuses.find_all(work.db, [StatusId(int(id)) for id in report.status_ids])
    answered = [one.in_reply_to_account_id for one in posts.values() if one.in_reply_to_account_id is not None]
    domains = report.forward_to_domains or [target.domain]
    inboxes = await recipients.at_domains(work.db, domains, [target.id, *answered])
    name = uuid5(NAMESPACE_URL, f"{work.settings.base_url}/reports/{report.id}")
    activity = activities.flag(work.settings, name, target.uri, [one.uri for one in posts.values()], report.comment)
    await deliver(work, activity=activity, sender=None, inboxes=inboxes)


REPORTED: JobKind[ReportCreated] = JobKind(
    name="federation_outgoing.reported", payload=ReportCreated, handler=tell_of_report, is_harmless=True
)
KINDS = (REPORTED,)
