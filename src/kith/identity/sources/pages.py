"""What pages need of sources."""

from kith.identity.sources.connections import LastWayIn, of_user, unlink
from kith.identity.sources.oauth.logout import receive as receive_logout
from kith.identity.sources.oauth.sign_in import begin as begin_oauth
from kith.identity.sources.oauth.sign_in import come_back as come_back_oauth
from kith.identity.sources.oauth.sign_in import find as find_oauth
from kith.identity.sources.offered_sources import LinkableSource, linkable
from kith.identity.sources.outcomes import SourceError, SourceOutcome, SourceRedirect
from kith.identity.sources.saml.identity_provider import IdentityProvider
from kith.identity.sources.saml.identity_provider import find_by_slug as find_saml
from kith.identity.sources.saml.logout import receive as receive_saml_logout
from kith.identity.sources.saml.logout import way_out as way_out_by_saml
from kith.identity.sources.saml.metadata import describe as describe_saml
from kith.identity.sources.saml.outgoing import IdentityProviderForm
from kith.identity.sources.saml.sign_in import begin as begin_saml
from kith.identity.sources.saml.sign_in import come_back as come_back_saml
from kith.identity.sources.saml.sign_in import receive as receive_saml
from kith.identity.sources.store import LinkedSource, Source

__all__ = [
    "IdentityProvider",
    "IdentityProviderForm",
    "LastWayIn",
    "LinkableSource",
    "LinkedSource",
    "Source",
    "SourceError",
    "SourceOutcome",
    "SourceRedirect",
    "begin_oauth",
    "begin_saml",
    "come_back_oauth",
    "come_back_saml",
    "describe_saml",
    "find_oauth",
    "find_saml",
    "linkable",
    "of_user",
    "receive_logout",
    "receive_saml",
    "receive_saml_logout",
    "unlink",
    "way_out_by_saml",
]
