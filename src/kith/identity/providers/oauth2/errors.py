"""A no in the words of RFC 6749 and its kin: a registered code, and a sentence for whoever debugs."""

from __future__ import annotations

from collections.abc import Mapping

INVALID_CLIENT = (
    "Client authentication failed due to unknown client, no client authentication included, or unsupported "
    "authentication method."
)
INVALID_GRANT = (
    "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the "
    "authorization request, or was issued to another client."
)
INVALID_SCOPE = "The requested scope is invalid, unknown, or malformed."
UNSUPPORTED_GRANT = "The authorization grant type is not supported by the authorization server."


class OAuthError(Exception):
    """Raised where the rule is; the endpoint makes an answer, or a redirect, of it.

    One that is written down already says under which `refusal`, which may be empty.
    """

    def __init__(
        self, error: str, description: str = "", *, status: int = 400, headers: Mapping[str, str] | None = None,
        refusal: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(f"{error}: {description}")
        self.error = error
        self.description = description
        self.status = status
        self.headers = dict(headers or {})
        self.refusal = refusal

    def body(self) -> dict[str, str]:
        told = {"error": self.error}
        if self.description:
            told["error_description"] = self.description
        return told | {"refusal": self.refusal} if self.refusal else told


def invalid_request(description: str) -> OAuthError:
    return OAuthError("invalid_request", description)


def missing(name: str) -> OAuthError:
    return invalid_request(f"Missing required parameter: {name}.")


def invalid_client(*, basic: bool = False) -> OAuthError:
    headers = {"WWW-Authenticate": 'Basic realm="Kith", error="invalid_client"'} if basic else None
    return OAuthError("invalid_client", INVALID_CLIENT, status=401, headers=headers)


def unfit_proof(words: str) -> OAuthError:
    """For whoever has proven by its signature that it is the client, and is told what else is wrong."""
    return OAuthError("invalid_client", f"The client_assertion was not accepted: {words}", status=401)


def invalid_grant(description: str = INVALID_GRANT) -> OAuthError:
    return OAuthError("invalid_grant", description)


def invalid_scope(description: str = INVALID_SCOPE) -> OAuthError:
    return OAuthError("invalid_scope", description)
