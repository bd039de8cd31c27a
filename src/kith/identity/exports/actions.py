"""GET /core/grants/export/."""

from __future__ import annotations

from urllib.parse import parse_qs

from kith.base.exchange import Answer, Exchange
from kith.identity.caller import ApiCaller
from kith.identity.exports import grants
from kith.identity.rest import Action
from kith.identity.rest.api import refuse
from kith.identity.rest.exporting import file_answer, note_export, spend_export

PLACE = "core.grant"
PERMISSIONS = ("core.view_user", "core.view_application", "core.view_userconsent")


async def export_grants(exchange: Exchange, caller: ApiCaller, _id: str) -> Answer:
    for permission in PERMISSIONS:
        if not caller.may(permission):
            await refuse(exchange, caller, permission)
    spend_export(exchange, caller)
    sent = parse_qs(exchange.query_string.decode("latin-1"), keep_blank_values=True)
    wanted = await grants.read_filter(exchange.work, sent)
    await note_export(exchange.work, caller.id, caller.username, PLACE, sent)
    return file_answer(exchange, PLACE, grants.lines(exchange.server.works, wanted))


ACTIONS = (
    Action(
        method="GET",
        path="/core/grants/export/",
        name="core_grants_export",
        handler=export_grants,
        permission="core.view_user",
        is_csv=True,
        summary="Who may enter which application, and what people have allowed: CSV, with ?user= and ?application=.",
    ),
)
