"""Everything kith says to other servers goes through here, and nowhere near its own network.

`Outgoing` refuses private addresses at the moment of connecting, so neither a name that resolves inwards
nor a redirect gets around it.
"""

from kith.base.http.addresses import PrivateHosts, is_public
from kith.base.http.client import Download, Outgoing, OutsideAnswer
from kith.base.http.failures import OutgoingError, Reason
from kith.base.http.hops import checked_url
from kith.base.http.wire import PostAnswer

__all__ = [
    "Download",
    "Outgoing",
    "OutgoingError",
    "OutsideAnswer",
    "PostAnswer",
    "PrivateHosts",
    "Reason",
    "checked_url",
    "is_public",
]
