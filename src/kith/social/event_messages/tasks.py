"""Notifications of identity's events that come as direct messages."""

from __future__ import annotations

from kith.base.errors import Problem
from kith.base.jobs import Give, JobKind
from kith.base.work import Work
from kith.identity.for_social import DirectMessageAsked
from kith.social.accounts import user_accounts
from kith.social.ids import UserId
from kith.social.statuses.service.post import StatusDraft, Unexpected, post

MOST_CHARACTERS = 400


async def send(work: Work, asked: DirectMessageAsked) -> None:
    """Posted once, like any direct message of the sender; given up where one of the two cannot write or read it."""
    try:
        sender = await user_accounts.of_user(work, UserId(asked.sender))
        recipient = await user_accounts.of_user(work, UserId(asked.recipient))
        draft = StatusDraft(
            status=f"@{recipient.username} {harmless(asked.text)}",
            visibility="direct",
            allowed_mentions=[recipient.id],
        )
        await post(work, sender, draft)
    except (Problem, Unexpected) as error:
        raise Give.up(f"The direct message cannot be sent: {error}") from error


def harmless(text: str) -> str:
    """Events hold what strangers typed: a name in them must not become a mention of somebody, nor a hashtag."""
    return text[:MOST_CHARACTERS].replace("@", "＠").replace("#", "＃")


SEND: JobKind[DirectMessageAsked] = JobKind(name="event_messages.send", payload=DirectMessageAsked, handler=send)
