"""What pages need of the OAuth engine."""

from kith.identity.providers.oauth2.access.checks import AccessDenied
from kith.identity.providers.oauth2.authorize.attempt import Decision
from kith.identity.providers.oauth2.authorize.authorization_request import (
    Parameters,
    Unfit,
    read_parameters,
)
from kith.identity.providers.oauth2.authorize.endpoint import authorize, hand_in
from kith.identity.providers.oauth2.authorize.redirect_uris import is_web, origin_of
from kith.identity.providers.oauth2.authorize.responses import AskConsent, FormPost, Outcome, Redirect
from kith.identity.providers.oauth2.authorize.third_party_login import find_login_address
from kith.identity.providers.oauth2.consent.authorized_clients import Granted, list_granted, take_back
from kith.identity.providers.oauth2.device.authorization_flow import pass_flow
from kith.identity.providers.oauth2.device.verification_page import Waiting, answer_waiting, find_waiting
from kith.identity.providers.oauth2.discovery.webfinger import RELATION as ISSUER_RELATION
from kith.identity.providers.oauth2.discovery.webfinger import find_issuer
from kith.identity.providers.oauth2.logout.endpoint import Go, Then, by_front_channel, end_session, front_channel
from kith.identity.providers.sign_on.outcomes import ErrorPage, Local

__all__ = [
    "ISSUER_RELATION",
    "AccessDenied",
    "AskConsent",
    "Decision",
    "ErrorPage",
    "FormPost",
    "Go",
    "Granted",
    "Local",
    "Outcome",
    "Parameters",
    "Redirect",
    "Then",
    "Unfit",
    "Waiting",
    "answer_waiting",
    "authorize",
    "by_front_channel",
    "end_session",
    "find_issuer",
    "find_login_address",
    "find_waiting",
    "front_channel",
    "hand_in",
    "is_web",
    "list_granted",
    "origin_of",
    "pass_flow",
    "read_parameters",
    "take_back",
]
