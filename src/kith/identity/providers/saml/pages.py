"""What pages need of the SAML identity provider."""

from kith.identity.providers.saml.actions import attachment
from kith.identity.providers.saml.logout import endpoint as logout
from kith.identity.providers.saml.logout.signing_out import PATH as SIGNING_OUT_PATH
from kith.identity.providers.saml.logout.signing_out import (
    Frames,
    SigningOut,
    Step,
    begin,
    go_on,
    has_work,
    prepare,
    show_frame,
)
from kith.identity.providers.saml.metadata import describe
from kith.identity.providers.saml.outcomes import Outcome, PostToService, SignOutAtOnce, ToService
from kith.identity.providers.saml.service_provider import ServiceProvider, find_by_slug
from kith.identity.providers.saml.sign_on import by_form, by_query, by_us
from kith.identity.providers.sign_on.outcomes import ErrorPage, Local

__all__ = [
    "SIGNING_OUT_PATH",
    "ErrorPage",
    "Frames",
    "Local",
    "Outcome",
    "PostToService",
    "ServiceProvider",
    "SignOutAtOnce",
    "SigningOut",
    "Step",
    "ToService",
    "attachment",
    "begin",
    "by_form",
    "by_query",
    "by_us",
    "describe",
    "find_by_slug",
    "go_on",
    "has_work",
    "logout",
    "prepare",
    "show_frame",
]
