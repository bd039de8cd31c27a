"""Encrypted messages from devices elsewhere to devices here."""

from __future__ import annotations

from kith.base.counted_log import log_counted
from kith.base.errors import Invalid
from kith.base.work import Work
from kith.federation.inbox.undone import was_done
from kith.federation.known import Known
from kith.federation.vocabulary.incoming.activities.shapes import IncomingMessages
from kith.social.accounts.tables import Account
from kith.social.encryption import service
from kith.social.encryption.service import MessageDelivery

__all__ = ["apply_messages"]

MOST = 50


async def apply_messages(work: Work, known: Known, sender: Account, activity: IncomingMessages) -> None:
    """They come to somebody's own inbox: devices are told apart only among one person's."""
    if known.delivered_to is None or await was_done(work, sender, activity.id):
        return
    for one in activity.messages[:MOST]:
        delivery = MessageDelivery(
            account_id=known.delivered_to,
            device_id=one.recipient_device,
            type=one.message_type,
            body=one.cipher_text,
            hmac=one.digest,
        )
        try:
            await service.deliver_from_elsewhere(work, sender, one.sender_device, delivery, one.franking or None)
        except Invalid as refused:
            log_counted("info", "inbox.message_dropped", sender=sender.uri, cause=str(refused.fields)[:300])
