from __future__ import annotations

import msgspec

from kith.social.push.tables import PushSubscription


class WebPushSubscription(msgspec.Struct):
    """Its id is a number, as apps expect it here."""

    id: int
    endpoint: str
    standard: bool
    alerts: dict[str, bool]
    server_key: str
    policy: str


def render_subscription(one: PushSubscription, server_key: str) -> WebPushSubscription:
    return WebPushSubscription(
        id=one.id,
        endpoint=one.endpoint,
        standard=one.standard,
        alerts=one.alerts,
        server_key=server_key,
        policy=one.policy,
    )
