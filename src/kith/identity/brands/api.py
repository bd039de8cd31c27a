"""What anybody may know of the brand of the host that they ask."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.exchange import JSON, Answer, Exchange
from kith.identity.brands.resources import RESOURCE, brands
from kith.identity.brands.service import current
from kith.identity.caller import ApiCaller
from kith.identity.flows.plan import slug_of
from kith.identity.rest import Action

_style = query(select(brands.c.branding_custom_css).where(brands.c.brand_uuid == bindparam("brand", type_=UID())), str)
PURPOSES = ("authentication", "invalidation", "recovery", "unenrollment", "user_settings", "device_code")


async def show_current(exchange: Exchange, _caller: ApiCaller, _id: str) -> Answer:
    """Open to everybody: pages of other programs need it before anybody has signed in."""
    brand, work = await current(exchange), exchange.work
    told: dict[str, Any] = {
        "matched_domain": brand.domain,
        "branding_title": brand.title,
        "branding_logo": brand.logo,
        "branding_favicon": brand.favicon,
        "branding_custom_css": (await work.db.one(_style, brand=brand.brand_uuid) or "") if brand.brand_uuid else "",
    }
    for name in PURPOSES:
        told[f"flow_{name}"] = await slug_of(work, brand.flows.get(name))
    return Answer(200, (*JSON, (b"cache-control", b"no-store")), msgspec.json.encode(told))


CURRENT = Action(
    method="GET",
    path=f"{RESOURCE.path}current/",
    name="core_brands_current",
    handler=show_current,
    permission=None,
    is_open=True,
    summary="The brand of the host that is asked; without sign-in.",
)
