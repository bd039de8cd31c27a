"""Reading an authorization request.

Client and redirect URI are checked first. Before both are valid an error is shown as a page; after that it is sent to
the client, in the response mode it chose.
"""

from __future__ import annotations

import re
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from kith.base.errors import Malformed
from kith.base.languages import first_known
from kith.base.params import BodyLimits
from kith.base.params.nesting import split_pairs
from kith.identity.providers.oauth2.authorize.redirect_uris import OUT_OF_BAND, is_registered, is_web
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.errors import OAuthError, invalid_request, missing
from kith.identity.providers.oauth2.forms import holds_nul

MOST_BYTES = 16 * 1024
_LIMITS = BodyLimits(count=100)
_MOST_CLAIMS = 8 * 1024

Mode = Literal["query", "fragment", "form_post"]
MODES: tuple[Mode, ...] = ("query", "fragment", "form_post")
TYPES = frozenset(
    {
        "code",
        "token",
        "id_token",
        "id_token token",
        "code token",
        "code id_token",
        "code id_token token",
    }
)
_UNSUPPORTED = {
    "request": "request_not_supported",
    "request_uri": "request_uri_not_supported",
    "registration": "registration_not_supported",
}
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_TRUE = ("1", "t", "true", "on", "yes")


class Unfit(Exception):  # noqa: N818 - the request is
    """The request has no valid client or redirect URI, so the error is shown as a page."""

    def __init__(self, title: str, message: str) -> None:
        super().__init__(f"{title}: {message}")
        self.title = title
        self.message = message


class Parameters(msgspec.Struct, frozen=True):
    """The parameters, each once; `repeated` are those that were sent more than once."""

    values: dict[str, str]
    repeated: frozenset[str] = frozenset()

    def get(self, name: str) -> str:
        return self.values.get(name, "")


class ResponseTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Where the response goes, or the error."""

    client: Client
    redirect_uri: str
    state: str | None
    mode: Mode
    issuer: str


class AuthorizationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A valid request, except for its scopes, which depend on the client's mappings."""

    target: ResponseTarget
    response_type: str
    scope: str
    nonce: str = ""
    challenge: str = ""
    method: str = ""
    prompts: frozenset[str] = frozenset()
    max_age: int | None = None
    login_hint: str = ""
    language: str = ""
    id_token_hint: str = ""
    claims: dict[str, Any] = {}
    resource: str = ""

    @property
    def client(self) -> Client:
        return self.target.client

    @property
    def words(self) -> list[str]:
        return self.response_type.split()


def read_parameters(*raw: bytes) -> Parameters:
    """The parameters of the query and the form."""
    if sum(map(len, raw)) > MOST_BYTES:
        raise Unfit("Request error", "This request is too long.")
    try:
        pairs = [pair for one in raw for pair in split_pairs(one, _LIMITS)]
    except Malformed as error:
        raise Unfit("Request error", f"{error.message}.") from error
    values: dict[str, str] = {}
    repeated = set()
    for name, value in pairs:
        if name in values:
            repeated.add(name)
        values.setdefault(name, value)
    return Parameters(values, frozenset(repeated))


def find_target(sent: Parameters, client: Client | None, base_url: str) -> ResponseTarget:
    if "client_id" in sent.repeated or client is None:
        raise Unfit("Client ID Error", "The application that sent you here is unknown. Its client_id is wrong.")
    uri = sent.get("redirect_uri")
    if not uri:
        raise Unfit("Redirect URI Error", "The application did not say where to redirect you (redirect_uri).")
    if "redirect_uri" in sent.repeated or not is_registered(
        uri, client.redirect_uris, matching=client.matching, out_of_band=client.is_social
    ):
        words = "The application has not registered the address it wants to redirect you to. You were not redirected."
        raise Unfit("Redirect URI Error", words)
    state = sent.values.get("state")
    return ResponseTarget(
        client=client, redirect_uri=uri, state=state, mode=_mode_of_errors(sent, uri), issuer=client.issuer(base_url)
    )


def _mode_of_errors(sent: Parameters, uri: str) -> Mode:
    """The response mode for errors: the one asked for, if it can be used, else that of the response type."""
    default = default_mode(_type_of(sent))
    for mode in MODES:
        if sent.get("response_mode") == mode and _fits(mode, default, uri):
            return mode
    return default


def default_mode(response_type: str) -> Mode:
    return "fragment" if {"token", "id_token"} & set(response_type.split()) else "query"


def _fits(mode: Mode, default: Mode, uri: str) -> bool:
    """Whether the mode is allowed: tokens are never put into a query, which is logged; forms need an http URI."""
    return not (mode == "query" and default == "fragment") and not (mode == "form_post" and not is_web(uri))


def _type_of(sent: Parameters) -> str:
    return " ".join(sorted(set(sent.get("response_type").split())))


def read_authorization_request(sent: Parameters, target: ResponseTarget) -> AuthorizationRequest:
    """Raises the first error, in the order of RFC 6749 and OpenID Connect."""
    social = target.client.is_social
    for name, error in _UNSUPPORTED.items():
        if sent.get(name):
            raise OAuthError(error, f"The parameter {name} is not supported.")
    _refuse_repeated(sent)
    response_type = _response_type(sent, target)
    _check_mode(sent, target)
    challenge, method = _challenge(sent, target.client, response_type)
    nonce = sent.get("nonce")
    if "id_token" in response_type.split() and not nonce:
        raise missing("nonce")
    return AuthorizationRequest(
        target=target,
        response_type=response_type,
        scope=sent.get("scope"),
        nonce=nonce,
        challenge=challenge,
        method=method,
        prompts=_prompts(sent),
        max_age=_max_age(sent, target.client),
        login_hint=sent.get("login_hint")[:320],
        language=_language(sent),
        id_token_hint=sent.get("id_token_hint"),
        claims={} if social else _claims(sent),
        resource="" if social else _resource(sent),
    )


def _refuse_repeated(sent: Parameters) -> None:
    if "resource" in sent.repeated:
        raise OAuthError("invalid_target", "Only one resource can be asked for at a time.")
    for name in sorted(sent.repeated):
        raise invalid_request(f"The parameter {name[:50]} is given more than once.")


def _response_type(sent: Parameters, target: ResponseTarget) -> str:
    client, wanted = target.client, _type_of(sent)
    if not wanted:
        raise missing("response_type")
    if wanted not in TYPES or (client.is_social and wanted not in client.response_types):
        raise OAuthError("unsupported_response_type", "The authorization server does not support this response type.")
    words = wanted.split()
    needed = {"authorization_code"} if "code" in words else set()
    needed |= {"implicit"} if words != ["code"] else set()
    if wanted not in client.response_types or not needed <= client.grant_types:
        raise OAuthError("unauthorized_client", "The client is not authorized to use this response type.")
    return wanted


def _check_mode(sent: Parameters, target: ResponseTarget) -> None:
    wanted = sent.get("response_mode")
    if not wanted:
        return
    if wanted not in MODES:
        raise invalid_request("This response mode is not supported.")
    if wanted != target.mode:
        raise invalid_request(f"The response mode {wanted} cannot be used for this answer.")


def _challenge(sent: Parameters, client: Client, response_type: str) -> tuple[str, str]:
    """PKCE: both parameters or none. The method `plain` is refused, as it protects from nobody who listens."""
    if "code" not in response_type.split():
        return "", ""
    challenge, method = sent.values.get("code_challenge"), sent.values.get("code_challenge_method")
    if challenge is None:
        if method is not None:
            raise missing("code_challenge")
        if client.is_public:
            raise invalid_request("Missing required parameter: code_challenge. A public client must use PKCE (S256).")
        return "", ""
    if method != "S256":
        raise invalid_request("The code_challenge_method must be S256.")
    if _CHALLENGE.fullmatch(challenge) is None:
        raise invalid_request("The code_challenge is not well-formed.")
    return challenge, method


def _prompts(sent: Parameters) -> frozenset[str]:
    words = set(sent.get("prompt").split())
    if "none" in words and words != {"none"}:
        raise invalid_request("prompt=none cannot be combined with another value.")
    if "select_account" in words or sent.get("force_login").lower() in _TRUE:
        words.add("login")
    return frozenset(words & {"none", "login", "consent"})


def _max_age(sent: Parameters, client: Client) -> int | None:
    text = sent.get("max_age")
    if not text:
        return client.registered.default_max_age
    if not (text.isascii() and text.isdigit()) or len(text) > 10:
        raise invalid_request("max_age must be a number of seconds.")
    return int(text)


def _language(sent: Parameters) -> str:
    """The first of `ui_locales` in which our pages exist."""
    return first_known([sent.get("lang"), *sent.get("ui_locales").split()[:20]])


def _claims(sent: Parameters) -> dict[str, Any]:
    """The `claims` parameter and `acr_values`, as they are stored with the grant; unknown parts are ignored."""
    kept: dict[str, Any] = {}
    text = sent.get("claims")
    if text:
        if len(text) > _MOST_CLAIMS:
            raise invalid_request("The claims parameter is too long.")
        try:
            asked = msgspec.json.decode(text.encode(), type=dict[str, Any])
            places = {place: asked[place] for place in ("userinfo", "id_token") if asked.get(place) is not None}
            wishes = msgspec.convert(places, dict[str, dict[str, dict[str, Any] | None]])
            kept = {place: named for place, named in wishes.items() if named}
            if holds_nul(kept):
                raise msgspec.ValidationError("NUL")  # as whatever else cannot be read
        except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeEncodeError) as error:
            raise invalid_request("The claims parameter must be a JSON object as OpenID Connect has it.") from error
    acr = sent.get("acr_values").split()[:20]
    return kept | {"acr_values": acr} if acr else kept


def _resource(sent: Parameters) -> str:
    uri = sent.get("resource")
    if not uri:
        return ""
    try:
        parts = urlsplit(uri)
    except ValueError:
        parts = urlsplit("")
    if not parts.scheme or not (parts.netloc or parts.path) or "#" in uri or re.search(r"[\s\x00-\x1f]", uri):
        raise OAuthError("invalid_target", "The resource must be an absolute URI without a fragment.")
    return uri


def is_out_of_band(target: ResponseTarget) -> bool:
    return target.redirect_uri == OUT_OF_BAND
