"""What the team sees and does, in the social API's admin routes."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.admin.api import accounts, actions, appeals, blocks, figures, reports, roles
from kith.social.errors import DIALECT

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
    ),
)
