"""How somebody signed in, in the words of SAML, and whether that is what a service asked for."""

from __future__ import annotations

from kith.identity.saml.names import (
    CONTEXT_ONE_FACTOR,
    CONTEXT_PASSWORD,
    CONTEXT_PASSWORD_PROTECTED,
    CONTEXT_TWO_FACTOR,
    CONTEXT_UNSPECIFIED,
)
from kith.identity.saml.protocol import AuthnRequest

# From the weakest to the strongest; the first is what is told if nothing else was asked for.
_CLASSES = {
    "password": (CONTEXT_PASSWORD_PROTECTED, CONTEXT_PASSWORD, CONTEXT_UNSPECIFIED),
    "auth_mfa": (CONTEXT_TWO_FACTOR, CONTEXT_PASSWORD_PROTECTED, CONTEXT_PASSWORD, CONTEXT_UNSPECIFIED),
    "auth_webauthn_pwl": (CONTEXT_ONE_FACTOR, CONTEXT_UNSPECIFIED),
}
_NOTHING = (CONTEXT_UNSPECIFIED,)
_STRENGTH = {
    CONTEXT_UNSPECIFIED: 0,
    CONTEXT_PASSWORD: 1,
    CONTEXT_PASSWORD_PROTECTED: 2,
    CONTEXT_ONE_FACTOR: 3,
    CONTEXT_TWO_FACTOR: 4,
}


def context_for(auth_method: str, request: AuthnRequest) -> str | None:
    """The class to tell; None if the way they signed in is not what was asked for."""
    own = _CLASSES.get(auth_method, _NOTHING)
    if not request.contexts:
        return own[0]
    if request.comparison == "exact":
        return next((wanted for wanted in request.contexts if wanted in own), None)
    known = [_STRENGTH[wanted] for wanted in request.contexts if wanted in _STRENGTH]
    if not known:
        return None
    strength = _STRENGTH[own[0]]
    match request.comparison:
        case "minimum":
            return own[0] if strength >= min(known) else None
        case "better":
            return own[0] if strength > max(known) else None
        case "maximum":
            return next((one for one in own if _STRENGTH[one] <= max(known)), None)
    return None
