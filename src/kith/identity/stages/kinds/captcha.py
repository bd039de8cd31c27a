"""Asks a captcha service whether a person is there; reCAPTCHA, hCaptcha and Turnstile speak alike."""

from __future__ import annotations

from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Draft, Resource, kind_table
from kith.identity.rest.fields import URL, Boolean, Choice, Number, Secret, Text

_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"

FIELDS = (
    Text(name="public_key", required=True, help="The site key."),
    Secret(name="private_key", required=True, sent_to=("api_url",)),
    URL(name="js_url", default="https://www.recaptcha.net/recaptcha/api.js", most=500),
    URL(name="api_url", default="https://www.recaptcha.net/recaptcha/api/siteverify", most=500),
    Choice(name="request_content_type", default=_FORM, choices=(_FORM, _JSON), also={"form": _FORM, "json": _JSON}),
    Boolean(name="interactive", default=False),
    Number(name="score_min_threshold", default=0.5, least=-1, most=1, help="-1: no matter how low."),
    Number(name="score_max_threshold", default=1.0, least=-1, most=1, help="-1: no matter how high."),
    Boolean(name="error_on_invalid_score", default=True, help="False: write the score into the plan and go on."),
)


async def check(draft: Draft) -> None:
    if -1 < draft.now("score_max_threshold") < draft.now("score_min_threshold"):
        draft.complain("score_max_threshold", "Ensure this value is greater than or equal to score_min_threshold.")


RESOURCE = Resource(
    path="/stages/captcha/",
    record="CaptchaStage",
    key="stage_uuid",
    family=STAGES,
    kind="captcha",
    table=kind_table("identity_stages_captcha", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "public_key"),
    prepare=check,
    removing=forget_stage,
)
