"""What the stages share with which people set up a second factor."""

from __future__ import annotations

from kith.identity.rest.fields import Reference, Text

KINDS = ("otp", "otpstatic", "otptime", "webauthn")

FIELDS = (
    Reference(
        name="configure_flow",
        null=True,
        to="identity_flows.flow_uuid",
        where=(("designation", "stage_setup"),),
        help="The flow in which people set this up themselves.",
    ),
    Text(name="friendly_name", default="", most=255, help="What people see; the stage's name when left empty."),
)
