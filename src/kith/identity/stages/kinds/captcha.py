"""A captcha: an external service, or proof of work by the visitor's browser (public key `pow`)."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any
from urllib.parse import urlencode

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.errors import Complaint
from kith.base.http import Outgoing, OutgoingError
from kith.base.sealing import Sealer
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.rest import RecordDraft, Resource, kind_table
from kith.identity.rest.fields import URL, Boolean, Choice, Number, Secret, Text
from kith.identity.stages.turn import PASSED, Challenge, Outcome, StageKind, Turn

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


class CaptchaStage(StageRecord, kw_only=True):
    public_key: str
    js_url: str
    api_url: str
    request_content_type: str
    interactive: bool
    score_min_threshold: float
    score_max_threshold: float
    error_on_invalid_score: bool


async def check(draft: RecordDraft[CaptchaStage]) -> None:
    if -1 < draft.now.score_max_threshold < draft.now.score_min_threshold:
        draft.complain("score_max_threshold", "Ensure this value is greater than or equal to score_min_threshold.")


RESOURCE = Resource(
    path="/stages/captcha/",
    name="CaptchaStage",
    record=CaptchaStage,
    key="stage_uuid",
    family=STAGES,
    kind="captcha",
    table=kind_table("identity_stages_captcha", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "public_key"),
    prepare=check,
)


WORK = "pow"
BITS = 16
INVALID = "Invalid captcha response"
UNREACHABLE = "Failed to validate token"
assert RESOURCE.table is not None  # noqa: S101 - a captcha stage has fields of its own
_table = RESOURCE.table
_key = query(select(_table.c.private_key).where(_table.c.stage_uuid == bindparam("stage", type_=UID())), str)


async def show(turn: Turn[CaptchaStage]) -> Outcome:
    return Challenge("captcha", offer(turn, turn.stage))


def offer(turn: Turn[Any], stage: CaptchaStage) -> dict[str, Any]:
    """The fields for the page; an earlier challenge becomes invalid."""
    fields: dict[str, Any] = {"site_key": stage.public_key, "js_url": stage.js_url, "interactive": stage.interactive}
    if stage.public_key == WORK:
        challenge = turn.context.captcha_challenge = secrets.token_urlsafe(18)
        fields |= {"js_url": "", "challenge": challenge, "difficulty": BITS}
    return fields


async def take(turn: Turn[CaptchaStage], answer: dict[str, Any]) -> Outcome:
    asked, turn.context.captcha_challenge = turn.context.captcha_challenge, None
    shown = Challenge("captcha", offer(turn, turn.stage))
    wrong = await complain(turn, turn.stage, asked, answer.get("token"))
    return PASSED if wrong is None else shown.complain("token", wrong, wrong.code)


async def complain(turn: Turn[Any], stage: CaptchaStage, asked: str | None, given: Any) -> Complaint | None:
    """What is wrong with the answer to the challenge `asked`, or to the external service."""
    if not isinstance(given, str) or not given or len(given) > 10_000:
        return Complaint("This field may not be blank.", "blank")
    if stage.public_key == WORK:
        return None if asked is not None and is_worked(asked, given) else Complaint(INVALID, "invalid")
    wrong = await _ask(turn, stage, given)
    return None if wrong is None else Complaint(wrong, "invalid")


def is_worked(challenge: str, given: str) -> bool:
    """Whether the SHA-256 of `challenge:number` begins with enough zero bits."""
    if not given.startswith(f"{challenge}:") or len(given) > len(challenge) + 30:
        return False
    digest = hashlib.sha256(given.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest, "big") >> (256 - BITS) == 0


async def _ask(turn: Turn[Any], stage: CaptchaStage, given: str) -> str | None:
    """Ask the external service. If it cannot be reached, the answer is not accepted."""
    work = turn.work
    sealed = await work.db.one(_key, stage=stage.stage_uuid)
    secret = work.find(Sealer).open(sealed, f"{_table.name}.private_key") if sealed else ""
    told = {"secret": secret, "response": given, "remoteip": turn.exchange.address}
    as_json = stage.request_content_type == "application/json"
    body = msgspec.json.encode(told) if as_json else urlencode(told).encode()
    try:
        answer = await work.find(Outgoing).request(
            "POST",
            stage.api_url,
            headers={"Content-Type": stage.request_content_type},
            body=body,
            max_bytes=1 << 16,
            timeout=8.0,
            max_redirects=0,
        )
        found = answer.json()
    except (OutgoingError, ValueError):
        return UNREACHABLE
    if answer.status != 200 or not isinstance(found, dict):
        return UNREACHABLE
    return _judged(turn, stage, found)


def _judged(turn: Turn[Any], stage: CaptchaStage, found: dict[str, Any]) -> str | None:
    if found.get("success") is not True:
        return INVALID
    score = found.get("score")
    if not isinstance(score, (int, float)) or isinstance(score, bool):
        return None
    low, high = stage.score_min_threshold, stage.score_max_threshold
    if (low == -1 or score >= low) and (high == -1 or score <= high):
        return None
    if stage.error_on_invalid_score:
        return INVALID
    turn.context.captcha = {"score": score}
    return None


STAGE = StageKind(RESOURCE, show, take)
