"""Ending all sessions of several people at once."""

from __future__ import annotations

from urllib.parse import parse_qs

from kith.base.errors import Complaint, Invalid
from kith.base.exchange import Answer, Exchange
from kith.identity.audit import service as audit
from kith.identity.caller import ApiCaller
from kith.identity.rest import Action
from kith.identity.rest.answers import show
from kith.identity.rest.fields import InvalidValue, read_identifier
from kith.identity.sessions import store
from kith.identity.sessions.service import end_all
from kith.identity.users.privileges import refuse_if_above

MOST_PEOPLE = 100


async def end_sessions(exchange: Exchange, caller: ApiCaller, _id: str) -> Answer:
    """Either all or, if one of the people stands above the caller, none."""
    work, people = exchange.work, _people(exchange)
    for user_id in people:
        await refuse_if_above(work, caller, user_id, "end the sessions of")
    ended = 0
    for user_id in sorted(people):  # always in the same order, so that two who do this never wait for each other
        ended += len(await store.of_user(work.db, user_id, work.now))
        await end_all(work, user_id)
    context = {"logout_reason": "ended by staff", "people": people, "sessions": ended}
    await audit.record(work, "logout", "core.sessions", user_id=caller.id, username=caller.username, context=context)
    return show({"deleted": ended})


def _people(exchange: Exchange) -> list[int]:
    sent = parse_qs(exchange.query_string.decode("latin-1"), max_num_fields=1000).get("user_pks", [])
    if not 0 < len(sent) <= MOST_PEOPLE:
        words = f"Name one to {MOST_PEOPLE} people in user_pks."
        raise Invalid(fields={"user_pks": [Complaint(words, "invalid")]})
    try:
        return list(dict.fromkeys(read_identifier(text, integer=True) for text in sent))
    except InvalidValue as refused:
        raise Invalid(fields={"user_pks": [refused.complaint]}) from refused


END_ALL = Action(
    method="DELETE",
    path="/core/authenticated_sessions/bulk_delete/",
    name="core_authenticated_sessions_bulk_delete",
    handler=end_sessions,
    permission="core.delete_authenticatedsession",
    summary="End all sessions of the people in `user_pks`.",
)
ACTIONS: tuple[Action, ...] = (END_ALL,)
