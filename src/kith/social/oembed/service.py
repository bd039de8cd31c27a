from __future__ import annotations

import re
from typing import NamedTuple

from kith.base.errors import NotFound
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import PUBLIC, UNLISTED, Status

_PATH = re.compile(
    r"/(?:@(?P<name>\w{1,100})/(?P<id>[0-9]{1,19})|users/(?P<user>\w{1,100})/statuses/(?P<post>[0-9]{1,19}))/?\Z"
)


class Embedded(NamedTuple):
    status: Status
    author: Account


async def find(work: Work, url: str) -> Embedded:
    """A post of this server that everybody may see, by either of its addresses."""
    here = work.settings.base_url
    path = url.partition("?")[0].partition("#")[0]
    match = _PATH.match(path[len(here) :]) if path.startswith(f"{here}/") else None
    id = int(match["id"] or match["post"]) if match else 0
    if match is None or id >= 1 << 63:
        raise NotFound
    status = await statuses.find_visible(work.db, StatusId(id), None)
    if status is None or not status.local or status.reblog_of_id or status.visibility not in (PUBLIC, UNLISTED):
        raise NotFound
    author = await accounts.find(work.db, status.account_id)
    if author is None or author.username_key != (match["name"] or match["user"]).lower():
        raise NotFound
    return Embedded(status, author)
