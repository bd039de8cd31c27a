"""Mails a link with which the run goes on. For an unknown account it looks the same, but no mail is sent.

A link for a new password only goes to a confirmed address. A link that confirms an address does not go to one that
belongs to another account; its owner is told instead.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import bindparam, select

from kith.base import mail_texts
from kith.base.db import UID, query
from kith.base.errors import Throttled
from kith.base.exchange import Answer, Exchange
from kith.base.jobs import Give, JobKind
from kith.base.languages import preferred_language
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.mail import Mail, MailRefused
from kith.base.mail_texts import MailText
from kith.base.mail_words import footer_of, with_footer
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.caller import ApiCaller
from kith.identity.flows.stages import STAGES, StageRecord
from kith.identity.links import service as links
from kith.identity.rest import Action, RecordDraft, Resource, kind_table
from kith.identity.rest.answers import show as answer_with
from kith.identity.rest.fields import Boolean, Choice, Email, Integer, Offset, Secret, Text, read_offset
from kith.identity.server_names import origin_of
from kith.identity.signups import addresses
from kith.identity.signups import service as signups
from kith.identity.stages import proofs, reauthentication
from kith.identity.stages.mail_servers import MailServer, mailer_of
from kith.identity.stages.turn import PASSED, Challenge, Denied, Outcome, StageKind, Turn
from kith.identity.users import service as users
from kith.identity.users.names import typed_key
from kith.identity.users.tables import User

TEMPLATES = {
    "password_reset": "A link to choose a new password.",
    "account_confirmation": "A link that confirms a new account.",
}
_PATHS = ("stages/email/for_email/{}.html", "email/{}.html")

FIELDS = (
    Text(name="host", default="localhost", most=255),
    Integer(name="port", default=25, least=1, most=65_535),
    Text(name="username", default="", most=255),
    Secret(name="password", default="", most=1000, sent_to=("host", "port", "use_tls", "use_ssl")),
    Boolean(name="use_tls", default=False, help="Begin in the clear and turn to TLS."),
    Boolean(name="use_ssl", default=False, help="TLS from the start."),
    Integer(name="timeout", default=10, least=1, help="Seconds."),
    Email(name="from_address", blank=False, help="system@ this server's host when left out."),
    Integer(name="token_expiry", default=30, least=1, help="Minutes the link is good for."),
    Text(name="subject", blank=False, most=500, help="This server's name when left out."),
    Choice(
        name="template",
        default="password_reset",
        choices=tuple(TEMPLATES),
        also={path.format(name): name for name in TEMPLATES for path in _PATHS},
    ),
    Boolean(name="use_global_settings", default=True, help="Send as the server sends, whatever stands here."),
    Boolean(
        name="activate_user_on_success",
        default=False,
        help="Enable whoever opens the link, if they were made inactive at their enrolment and never disabled.",
    ),
    Integer(name="recovery_max_attempts", default=5, least=1),
    Offset(name="recovery_cache_timeout", default="minutes=5", least=1),
)


class EmailStage(StageRecord, kw_only=True):
    host: str
    port: int
    username: str
    use_tls: bool
    use_ssl: bool
    timeout: int
    from_address: str
    token_expiry: int
    subject: str
    template: str
    use_global_settings: bool
    activate_user_on_success: bool
    recovery_max_attempts: int
    recovery_cache_timeout: str


async def check(draft: RecordDraft[EmailStage]) -> None:
    settings = draft.work.settings
    if draft.is_new:
        draft.now.from_address = draft.now.from_address or f"system@{urlsplit(settings.base_url).hostname}"
        draft.now.subject = draft.now.subject or settings.title
    if draft.now.use_tls and draft.now.use_ssl:
        draft.complain("", "Only one of use_tls and use_ssl can be set.")


async def list_templates(_exchange: Exchange, _caller: ApiCaller, _id: str) -> Answer:
    return answer_with([{"name": name, "description": words} for name, words in TEMPLATES.items()])


_stages = kind_table("identity_stages_email", STAGES, FIELDS)
RESOURCE = Resource(
    path="/stages/email/",
    name="EmailStage",
    record=EmailStage,
    key="stage_uuid",
    family=STAGES,
    kind="email",
    table=_stages,
    fields=FIELDS,
    exact=("name", "host", "port", "template", "use_global_settings"),
    prepare=check,
)

LIST_TEMPLATES = Action(
    method="GET",
    path="/stages/email/templates/",
    name="stages_email_templates",
    handler=list_templates,
    permission=RESOURCE.permission("view"),
    answer="EmailTemplate",
    many=True,
    summary="The mails an email stage can send.",
)
_way_out = query(
    select(*(_stages.c[name] for name in MailServer.__struct_fields__)).where(
        _stages.c.stage_uuid == bindparam("stage", type_=UID())
    ),
    MailServer,
)

PLACE = "identity_flow_tokens.plan"
SENT = "Email successfully sent."
CONFIRMS = "account_confirmation"
FROM_ONE = LimitRule("flow-mail-from", most=25, seconds=300)  # asked for from one place, for whomever
_VALUES = {"name": "ada", "subject": "Our place", "duration": "30 minutes", "link": "https://our.example/flows/key"}
_TEXTS = {
    "password_reset": MailText(
        name="password_reset",
        subject="{subject}",
        body="""You asked to reset the password of your account {name} at {site}.

Choose a new password:
{link}

The link works once and expires after {duration}.
If this was not you, you can ignore this e-mail. Your password stays the same.""",
        values=_VALUES,
        needs=("link",),
        keys=("link",),
    ),
    "account_confirmation": MailText(
        name="account_confirmation",
        subject="{subject}",
        body="""Welcome to {site}, {name}. Please confirm your e-mail address.

Confirm e-mail address:
{link}

The link works once and expires after {duration}.
If you did not sign up, you can ignore this e-mail.""",
        values=_VALUES,
        needs=("link",),
        keys=("link",),
    ),
}
TEXTS = tuple(_TEXTS.values())


async def show(turn: Turn[EmailStage]) -> Outcome:
    step = turn.step.fsb_uuid
    if turn.context.link_step == step:
        return await _arrive(turn) if turn.may_act else _challenge(turn)
    if await _is_known(turn):
        return PASSED
    if turn.context.mailed_step == step or not turn.may_act:
        return _challenge(turn)
    return await _send(turn, _challenge(turn))


async def take(turn: Turn[EmailStage], _answer: dict[str, Any]) -> Outcome:
    """Any answer sends another mail; only the link continues the run."""
    if turn.context.link_step == turn.step.fsb_uuid:
        return await _arrive(turn)
    if await _is_known(turn):
        return PASSED
    outcome = await _send(turn, _challenge(turn))
    if isinstance(outcome, Challenge) and not outcome.errors:
        outcome.complain("non_field_errors", SENT, "email-sent")
    return outcome


async def _is_known(turn: Turn[EmailStage]) -> bool:
    """Whether there is nothing left to confirm."""
    if turn.stage.template != CONFIRMS:
        return False
    user = await turn.pending_user()
    if user is None or (turn.stage.activate_user_on_success and user.awaits_link):
        return False
    return not signups.must_confirm(turn.work.settings, user)


def _challenge(turn: Turn[EmailStage]) -> Challenge:
    """`is_sent`: whether there is a mail to wait for; before that, an answer sends it."""
    name, step = turn.context.pending_user_identifier or "", turn.step.fsb_uuid
    return Challenge("email", {"pending_user": name, "is_sent": turn.context.mailed_step == step})


async def _send(turn: Turn[EmailStage], challenge: Challenge) -> Outcome:
    if turn.context.user_id is None and turn.context.pending_user_identifier is None:
        return Denied("No user was given.", "email stage without a pending user")
    user = await turn.pending_user()
    seconds = int(read_offset(turn.stage.recovery_cache_timeout) or 300)
    rule = LimitRule("flow-mail", most=turn.stage.recovery_max_attempts, seconds=max(seconds, 1))
    try:
        await turn.work.find(Limiter).spend_strictly(FROM_ONE, address_key(turn.exchange.address))
        await turn.work.find(Limiter).spend_strictly(rule, _asker(turn))
    except Throttled as problem:
        words = f"Too many e-mails were requested. Please wait {problem.retry_after} seconds."
        return challenge.complain("non_field_errors", words, "throttled")
    turn.context.mailed_step = turn.step.fsb_uuid
    turn.context.email_sent = challenge.fields["is_sent"] = True
    if user is not None:
        await _mail(turn, rule, user)
    return challenge


async def _mail(turn: Turn[EmailStage], rule: LimitRule, user: User) -> None:
    address = _address(turn, user)
    if not address or not await _may_mail(turn, rule, user, address):
        return
    if turn.stage.template == CONFIRMS and await addresses.tell_owner(turn.work, address, user.id):
        return
    await _post(turn, user, address)


def _asker(turn: Turn[EmailStage]) -> str:
    """The key of the limit: address and typed name, so that unknown names are limited in the same way."""
    typed = typed_key(str(turn.context.pending_user_identifier or "")).encode("utf-8", "surrogatepass")
    return f"{address_key(turn.exchange.address)} {hashlib.sha256(typed).hexdigest()[:40]}"


def _address(turn: Turn[EmailStage], user: User) -> str:
    given = turn.context.email
    if given:
        return str(given)
    return user.email if turn.stage.template == CONFIRMS else user.counted_email


async def _may_mail(turn: Turn[EmailStage], rule: LimitRule, user: User, address: str) -> bool:
    """Whether the limit of mails to this person allows one more; nobody is told if it does not."""
    try:
        await turn.work.find(Limiter).spend_strictly(rule, f"user {user.id}")
    except Throttled:
        return False
    return await addresses.may_get_mail(turn.work, address)


async def _post(turn: Turn[EmailStage], user: User, address: str) -> None:
    work, stage = turn.work, turn.stage
    key = links.new_key()
    context = msgspec.structs.replace(
        turn.context,
        link_step=turn.step.fsb_uuid,
        link_address=address,
        link_hash=links.hash_key(key),
        is_restored=True,
    )
    plan = msgspec.structs.replace(turn.plan, context=context)
    sealed = work.find(Sealer).seal(msgspec.json.encode(plan).decode(), PLACE)
    life = timedelta(minutes=stage.token_expiry)
    await links.make(work, key, user.id, flow=turn.flow.flow_uuid, plan=sealed, life=life)
    link = f"{origin_of(work)}/flows/{turn.flow.slug}/?flow_token={key}"
    post(work, turn.step.stage_uuid, _compose(turn, user, address, link))
    await audit.record(
        work,
        "email_sent",
        "stages.email",
        user_id=user.id,
        username=user.username,
        context={"message": f"Email to {address} sent", "subject": stage.subject, "to": [address]},
    )


def _compose(turn: Turn[EmailStage], user: User, address: str, link: str) -> Mail:
    accepted = turn.exchange.header(b"accept-language").decode("latin-1")
    locale = user.locale or preferred_language(accepted)
    made = mail_texts.write(
        turn.work,
        _TEXTS[turn.stage.template],
        locale,
        name=user.username,
        subject=turn.stage.subject or turn.work.settings.title,
        duration=_spoken(locale, turn.stage.token_expiry),
        link=link,
    )
    return Mail(to=address, subject=made.subject, text=made.text, html=made.html, holds_key=made.holds_key)


def _spoken(locale: str, minutes: int) -> str:
    for length, unit in ((24 * 60, "days"), (60, "hours")):
        if minutes > length and minutes % length == 0:
            return mail_texts.spoken(locale, unit, minutes // length)
    return mail_texts.spoken(locale, "minutes", minutes)


async def _arrive(turn: Turn[EmailStage]) -> Outcome:
    """The link was opened: its address is confirmed."""
    user = await turn.pending_user()
    if user is None:
        return Denied("This link is not valid any more.", "the person is gone")
    if turn.context.link_address == user.email:
        if not await signups.confirm(turn.work, user):
            return Denied("This link is not valid any more.", "somebody else has proven the address")
        reauthentication.proved(turn, user.id)
    if turn.stage.activate_user_on_success and user.awaits_link:
        await users.set_active(turn.work, user, True, by=user.id, by_name=user.username, lifts_end=False)
    turn.context.link_step = turn.context.link_address = turn.context.mailed_step = None
    await proofs.renew(turn)
    return PASSED


class StageMail(msgspec.Struct):
    stage_uuid: str
    mail: Mail


def post(work: Work, stage_uuid: str, mail: Mail) -> None:
    """Enqueue a mail. The job has the stage's id and reads the mail server's password when it sends."""
    work.enqueue(SEND, StageMail(stage_uuid=stage_uuid, mail=mail))


async def send(work: Work, payload: StageMail) -> None:
    """Send the mail; given up if the stage was deleted, as its links are invalid then."""
    way = await work.db.one(_way_out, stage=payload.stage_uuid)
    if way is None:
        raise Give.up("the email stage is gone")
    try:
        await mailer_of(work, way, sealed_as=f"{_stages.name}.password").send(
            with_footer(payload.mail, footer_of(work, payload.mail))
        )
    except (MailRefused, ValueError) as error:
        raise Give.up(str(error)) from error


SEND: JobKind[StageMail] = JobKind(
    name="identity.stage_mail", payload=StageMail, handler=send, outside=True, concurrency=4, is_secret=True
)
STAGE = StageKind(RESOURCE, show, take)
