from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kith.base.settings import Settings
from kith.base.work import Work
from kith.social.accounts.entities import render
from kith.social.accounts.tables import Account
from kith.social.addresses import profile_url
from kith.social.annual_reports.tables import AnnualReport
from kith.social.pages import joined
from kith.social.statuses.entities import render_by_id

_encode = msgspec.json.Encoder().encode


def share_url(settings: Settings, account: Account, report: AnnualReport) -> str:
    """A page for everybody who was given its address."""
    return f"{profile_url(settings, account.username)}/wrapstodon/{report.year}/{report.share_key}"


async def render_reports(work: Work, account: Account, reports: Sequence[AnnualReport]) -> bytes:
    """Somebody's own, with whom and what they speak of. A post that was deleted since is named, and not shown."""
    people = await render(work, [account]) if reports else []
    ids = dict.fromkeys(int(id) for report in reports for id in _tops(report) if id is not None)
    posts = await render_by_id(work, list(ids), account.id)
    shown = [_encode(_entity(work.settings, account, report)) for report in reports]
    return b'{"annual_reports":%b,"accounts":%b,"statuses":%b}' % (
        joined(shown),
        joined(people),
        joined(list(posts.values())),
    )


def _tops(report: AnnualReport) -> list[str | None]:
    return list((report.data or {}).get("top_statuses", {}).values())


def _entity(settings: Settings, account: Account, report: AnnualReport) -> dict[str, Any]:
    return {
        "year": report.year,
        "account_id": str(report.account_id),
        "data": report.data,
        "schema_version": report.schema_version,
        "share_url": share_url(settings, account, report),
    }
