"""Who and what is let in: other servers, mail addresses, and where people come from."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.identity import for_staff
from kith.social.account_standing import PostingPermission
from kith.social.admission import api, peers, servers, tasks
from kith.social.admission.gate import AddressGate
from kith.social.errors import DIALECT

ROOM = Room(
    name="admission",
    dialect=DIALECT,
    routes=(*api.routes, *peers.routes),
    jobs=(tasks.FORGET, tasks.FIT_MODE, servers.ENFORCE),
    periodic=(
        Periodic(kind=tasks.FORGET, every=timedelta(hours=6), payload=tasks.Forget()),
        Periodic(kind=tasks.FIT_MODE, every=timedelta(minutes=1), payload=tasks.FitMode()),
    ),
    parts=(Part(AddressGate, AddressGate, also=(for_staff.PeopleGate, PostingPermission)),),
)
