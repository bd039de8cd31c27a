"""What somebody wants to be written to about: a route of ours, for Mastodon has it on a page only."""

from __future__ import annotations

from kith.base.routing import FromRequest, get, put
from kith.base.work import Work
from kith.social.accounts.viewers import Me
from kith.social.guards import user
from kith.social.notification_emails import service
from kith.social.notification_emails.service import EmailChange
from kith.social.notification_emails.store import EmailChoices


def _shown(choices: EmailChoices) -> dict[str, bool]:
    told = {type: type in choices.types for type in service.TYPES}
    return told | {"always": choices.always, "report": choices.reports}


@get("/api/v1/notifications/emails", guards=[user("read:notifications")])
async def show_emails(work: Work, me: Me) -> dict[str, bool]:
    return _shown(await service.choices_of(work, me))


@put("/api/v1/notifications/emails", guards=[user("write:notifications")])
async def change_emails(work: Work, me: Me, wanted: FromRequest[EmailChange]) -> dict[str, bool]:
    return _shown(await service.change(work, me, wanted))


routes = [show_emails, change_emails]
