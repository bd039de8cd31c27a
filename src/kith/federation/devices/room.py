"""Devices and encrypted messages across servers."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.federation.devices import api
from kith.federation.devices.elsewhere import RemoteDevices
from kith.federation.documents.answers import DIALECT
from kith.social.encryption.elsewhere import DevicesElsewhere

ROOM = Room(
    name="federation devices",
    dialect=DIALECT,
    routes=tuple(api.routes),
    parts=(Part(DevicesElsewhere, RemoteDevices),),
)
