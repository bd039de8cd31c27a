"""/core/messages/: the messages for the caller, each shown once."""

from __future__ import annotations

from kith.base.exchange import Answer, Exchange
from kith.identity.caller import ApiCaller
from kith.identity.messages import service
from kith.identity.rest import Action
from kith.identity.rest.answers import show


async def list_messages(exchange: Exchange, caller: ApiCaller, _id: str) -> Answer:
    waiting = await service.take(exchange.work, caller.id)
    return show(
        [
            {
                "message": message.message,
                "level": message.level,
                "tags": f"{message.extra_tags} {service.NAMES[message.level]}".strip(),
                "extra_tags": message.extra_tags,
                "level_tag": service.NAMES[message.level],
            }
            for message in waiting
        ]
    )


ACTIONS = (
    Action(
        method="GET",
        path="/core/messages/",
        name="core_messages_list",
        handler=list_messages,
        permission=None,
        answer="Message",
        many=True,
        summary="The caller's pending messages, each given once.",
    ),
)
