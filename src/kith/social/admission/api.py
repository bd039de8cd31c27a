from __future__ import annotations

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.base.work import Work
from kith.social.admission import store
from kith.social.admission.entities import render_public_block
from kith.social.guards import TheCaller, optional
from kith.social.pages import answer

_encode = msgspec.json.Encoder().encode


@get("/api/v1/instance/domain_blocks", guards=[optional()])
async def show_domain_blocks(exchange: Exchange, work: Work, caller: TheCaller) -> Answer:
    """Which servers are limited or suspended here, for whom the operator wants to show it to."""
    shown_to = work.settings.publish_domain_blocks
    if shown_to == "off" or (shown_to == "members" and caller.member is None):
        return answer(exchange, b"", status=404)
    found = sorted(await store.every(work.db, "domain_block"), key=lambda one: (one.severity == "suspend", one.domain))
    return answer(exchange, _encode([render_public_block(one) for one in found if one.severity != "noop"]))


routes = [show_domain_blocks]
