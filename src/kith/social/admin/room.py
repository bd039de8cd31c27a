"""What the team sees and does, in the social API's admin routes."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.identity import for_staff
from kith.social.accounts.facts import AccountChanged, AccountMade, AccountWelcomed
from kith.social.admin import webhook_tasks
from kith.social.admin.api import (
    accounts,
    actions,
    appeals,
    backups,
    blocks,
    figures,
    house,
    jobs,
    mail_texts,
    reports,
    roles,
)
from kith.social.admin.team_rights import RoleRights
from kith.social.errors import DIALECT
from kith.social.moderation.facts import ReportChanged, ReportCreated
from kith.social.statuses.facts import StatusEdited

ROOM = Room(
    name="admin",
    dialect=DIALECT,
    routes=(
        *accounts.routes,
        *roles.routes,
        *reports.routes,
        *actions.routes,
        *appeals.routes,
        *blocks.routes,
        *figures.routes,
        *house.routes,
        *mail_texts.routes,
        *jobs.routes,
        *backups.routes,
    ),
    jobs=(
        webhook_tasks.DELIVER,
        webhook_tasks.MADE,
        webhook_tasks.WELCOMED,
        webhook_tasks.CHANGED,
        webhook_tasks.REPORTED,
        webhook_tasks.REPORT_CHANGED,
        webhook_tasks.POSTED,
        webhook_tasks.EDITED,
    ),
    subscriptions=(
        (AccountMade, webhook_tasks.MADE),
        (AccountWelcomed, webhook_tasks.WELCOMED),
        (AccountChanged, webhook_tasks.CHANGED),
        (ReportCreated, webhook_tasks.REPORTED),
        (ReportChanged, webhook_tasks.REPORT_CHANGED),
        (StatusEdited, webhook_tasks.EDITED),
    ),
    parts=(Part(for_staff.TeamRights, lambda _: RoleRights()),),
)
