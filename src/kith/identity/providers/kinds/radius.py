"""Wi-Fi, a VPN or another network device that asks for passwords over RADIUS."""

from __future__ import annotations

import ipaddress

from kith.identity.providers import assigned_applications
from kith.identity.providers.family import NAME, ProviderRecord, choose_flow, family_of
from kith.identity.providers.signing_keys import check_signing_key
from kith.identity.rest import RecordDraft, Resource, kind_table
from kith.identity.rest.fields import Boolean, Reference, Secret, Text

_FAMILY = family_of(mappings="radius", name=Text(name=NAME.name, required=True, most=255))
MOST_NETWORKS = 100
SHORTEST_SECRET = 8

FIELDS = (
    Secret(
        name="shared_secret",
        required=True,
        most=200,
        help="What the device and this server both know. It protects passwords on their way, so make it long.",
    ),
    Text(
        name="client_networks",
        default="0.0.0.0/0, ::/0",
        most=2000,
        help="From where the devices ask: networks with commas between them.",
    ),
    Reference(
        name="certificate",
        null=True,
        to="identity_keypairs.kp_uuid",
        on_delete="RESTRICT",
        help="For EAP-TTLS, as Wi-Fi needs it. Null: passwords are taken directly (PAP) only.",
    ),
    Boolean(
        name="mfa_support",
        default=True,
        help="Who has a second factor signs in with the password, a semicolon and the code.",
    ),
)


class RadiusProvider(ProviderRecord, kw_only=True):
    client_networks: str
    certificate: str | None
    mfa_support: bool


async def check(draft: RecordDraft[RadiusProvider]) -> None:
    await choose_flow(draft)
    await check_signing_key(draft, "certificate", ("rsa", "ec"))
    if draft.sets("shared_secret") and len(draft.values["shared_secret"] or "") < SHORTEST_SECRET:
        draft.complain("shared_secret", f"Ensure this field has at least {SHORTEST_SECRET} characters.")
    if draft.sets("client_networks"):
        networks = draft.now.client_networks.split(",")
        if len(networks) > MOST_NETWORKS:
            draft.complain("client_networks", f"No more than {MOST_NETWORKS} networks.")
        for text in networks[:MOST_NETWORKS]:
            try:
                ipaddress.ip_network(text.strip(), strict=False)
            except ValueError:
                draft.complain("client_networks", f"{text.strip()[:50]!r} is no network such as 192.0.2.0/24.")
                return


radius_providers = kind_table("identity_providers_radius", _FAMILY, FIELDS)

RESOURCE = Resource(
    path="/providers/radius/",
    name="RadiusProvider",
    record=RadiusProvider,
    key="id",
    family=_FAMILY,
    kind="radius",
    table=radius_providers,
    fields=(*FIELDS, *assigned_applications.FIELDS),
    exact=("name",),
    prepare=check,
    decorate=assigned_applications.tell_applications,
)
