"""What pages need of sources."""

from kith.identity.sources.connections import LastWayIn, of_user, unlink
from kith.identity.sources.oauth.logout import receive as receive_logout
from kith.identity.sources.oauth.sign_in import begin as begin_oauth
from kith.identity.sources.oauth.sign_in import come_back as come_back_oauth
from kith.identity.sources.oauth.sign_in import find as find_oauth
from kith.identity.sources.offered_sources import LinkableSource, linkable
from kith.identity.sources.outcomes import SourceError, SourceOutcome, SourceRedirect
from kith.identity.sources.store import LinkedSource, Source

__all__ = [
    "LastWayIn",
    "LinkableSource",
    "LinkedSource",
    "Source",
    "SourceError",
    "SourceOutcome",
    "SourceRedirect",
    "begin_oauth",
    "come_back_oauth",
    "find_oauth",
    "linkable",
    "of_user",
    "receive_logout",
    "unlink",
]
