"""What pages need of the engine, under one name."""

from kith.identity.providers.oauth2.asking import Parameters, Unfit, read_parameters
from kith.identity.providers.oauth2.authorize import authorize, hand_in
from kith.identity.providers.oauth2.device_page import Waiting, answer_waiting, find_waiting
from kith.identity.providers.oauth2.entering import Refused
from kith.identity.providers.oauth2.granted import Granted, list_granted, take_back
from kith.identity.providers.oauth2.outcomes import AskConsent, ErrorPage, FormPost, Local, Outcome, Redirect
from kith.identity.providers.oauth2.presence import Decision
from kith.identity.providers.oauth2.redirecting import is_web, origin_of

__all__ = [
    "AskConsent",
    "Decision",
    "ErrorPage",
    "FormPost",
    "Granted",
    "Local",
    "Outcome",
    "Parameters",
    "Redirect",
    "Refused",
    "Unfit",
    "Waiting",
    "answer_waiting",
    "authorize",
    "find_waiting",
    "hand_in",
    "is_web",
    "list_granted",
    "origin_of",
    "read_parameters",
    "take_back",
]
