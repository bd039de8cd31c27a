"""Sends a mail with a link, and goes on once the link was followed."""

from __future__ import annotations

from urllib.parse import urlsplit

from kith.base.exchange import Answer, Exchange
from kith.identity.caller import Caller
from kith.identity.flows.resources import forget_stage
from kith.identity.flows.stages import STAGES
from kith.identity.rest import Action, Draft, Resource, kind_table
from kith.identity.rest.answers import show
from kith.identity.rest.fields import Boolean, Choice, Email, Integer, Offset, Secret, Text

TEMPLATES = {
    "password_reset": "A link to choose a new password.",
    "account_confirmation": "A link that confirms a new account.",
}
_PATHS = ("stages/email/for_email/{}.html", "email/{}.html")

FIELDS = (
    Text(name="host", default="localhost", most=255),
    Integer(name="port", default=25, least=1, most=65_535),
    Text(name="username", default="", most=255),
    Secret(name="password", default="", most=1000, sent_to=("host", "port")),
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
    Boolean(name="activate_user_on_success", default=False),
    Integer(name="recovery_max_attempts", default=5, least=1),
    Offset(name="recovery_cache_timeout", default="minutes=5", least=1),
)


async def check(draft: Draft) -> None:
    settings = draft.work.settings
    if draft.is_new:
        draft.values["from_address"] = draft.now("from_address") or f"system@{urlsplit(settings.base_url).hostname}"
        draft.values["subject"] = draft.now("subject") or settings.title
    if draft.now("use_tls") and draft.now("use_ssl"):
        draft.complain("", "Only one of use_tls and use_ssl can be set.")


async def list_templates(_exchange: Exchange, _caller: Caller, _id: str) -> Answer:
    return show([{"name": name, "description": words} for name, words in TEMPLATES.items()])


RESOURCE = Resource(
    path="/stages/email/",
    record="EmailStage",
    key="stage_uuid",
    family=STAGES,
    kind="email",
    table=kind_table("identity_stages_email", STAGES, FIELDS),
    fields=FIELDS,
    exact=("name", "host", "port", "template", "use_global_settings"),
    prepare=check,
    removing=forget_stage,
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
