"""Which addresses are asked."""

from __future__ import annotations

from urllib.parse import urlsplit

from kith.base.http.addresses import PrivateHosts
from kith.base.settings import Settings


def may_ask(settings: Settings, url: str) -> bool:
    """Secrets go by https; plain http is spoken to hosts that the operator has listed, and to nobody else."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return True
    return PrivateHosts(settings.private_hosts).lists(parts.hostname or "", parts.port or 80)
