"""Addresses that people of the team write down: of relays, and of lists."""

from __future__ import annotations

from kith.base.errors import Complaint, Invalid
from kith.base.http import OutgoingError, PrivateHosts, checked_url
from kith.base.http.urls import parse_url
from kith.base.settings import Settings

__all__ = ["LONGEST", "checked_address"]

LONGEST = 2048


def checked_address(settings: Settings, field: str, text: str) -> str:
    """As it is asked for: https, or plain http to a host that the operator has listed; never one of our own."""
    if not text.strip():
        raise Invalid(fields={field: [Complaint("can't be blank", "blank")]})
    refused = Invalid(fields={field: [Complaint("is invalid")]})
    if len(text) > LONGEST:
        raise refused
    try:
        url = parse_url(checked_url(text.strip()))
    except OutgoingError as error:
        raise refused from error
    is_listed = PrivateHosts(settings.private_hosts).lists(url.raw_host or "", url.port or 0)
    if (url.scheme != "https" and not is_listed) or settings.is_own_domain(url.raw_authority) or url.user:
        raise refused
    return str(url)
