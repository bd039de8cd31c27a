"""Activities on their way to other servers."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.federation.delivery import tasks
from kith.federation.delivery.couriers import Couriers
from kith.federation.delivery.ports import DeliveryGate, OpenDeliveryGate

ROOM = Room(
    name="federation delivery",
    jobs=tasks.KINDS,
    periodic=tasks.PERIODIC,
    parts=(
        Part(DeliveryGate, lambda _: OpenDeliveryGate()),
        Part(Couriers, Couriers, close=Couriers.close),
    ),
)
