"""How messages travel: in the query (compressed, with a signature beside them), or in a form."""

from __future__ import annotations

import base64
import binascii
import zlib
from urllib.parse import quote, unquote_to_bytes

import msgspec

from kith.identity.saml.errors import BadSignature, SAMLError
from kith.identity.saml.limits import MOST_BYTES, MOST_RELAY_STATE
from kith.identity.saml.names import KEY_TYPES, SIGNATURES

_NAMES = ("SAMLRequest", "SAMLResponse", "RelayState", "SigAlg", "Signature", "SAMLEncoding")
_DEFLATE = "urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:DEFLATE"
_UNREADABLE = "The message could not be decoded."


class QueryMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message from a query. `signed_octets` are what its signature is for, exactly as they were sent."""

    data: bytes
    relay_state: str = ""
    algorithm: str = ""
    signature: bytes = b""
    signed_octets: bytes = b""


def deflate(data: bytes) -> str:
    packer = zlib.compressobj(wbits=-15)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode()


def inflate(text: str) -> bytes:
    """The opposite; what would become larger than a message may be is not unpacked."""
    packed = decode(text)
    unpacker = zlib.decompressobj(wbits=-15)
    try:
        data = unpacker.decompress(packed, MOST_BYTES + 1)
    except zlib.error as error:
        raise SAMLError(_UNREADABLE) from error
    if len(data) > MOST_BYTES:
        raise SAMLError("The message is too large.")
    if not unpacker.eof or unpacker.unused_data:
        raise SAMLError(_UNREADABLE)
    return data


def decode(text: str) -> bytes:
    """Base64, in which line breaks are allowed."""
    if len(text) > MOST_BYTES * 2:
        raise SAMLError("The message is too large.")
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise SAMLError(_UNREADABLE) from error


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


# In the query


def read_query(query: bytes, name: str) -> QueryMessage | None:
    """The message of this name; None if there is none. Parameters that are given twice are refused."""
    raw: dict[str, bytes] = {}
    for part in query.split(b"&"):
        key, _, value = part.partition(b"=")
        word = key.decode("ascii", "replace")
        if word in _NAMES:
            if word in raw:
                raise SAMLError(f"The parameter {word} is given more than once.")
            raw[word] = value
    if name not in raw:
        return None
    given = {
        word: unquote_to_bytes(value.replace(b"+", b" ")).decode("utf-8", "replace") for word, value in raw.items()
    }
    if given.get("SAMLEncoding", _DEFLATE) != _DEFLATE:
        raise SAMLError("The message's encoding is unknown.")
    check_relay_state(given.get("RelayState", ""))
    order = [word for word in (name, "RelayState", "SigAlg") if word in raw]
    return QueryMessage(
        data=inflate(given[name].replace(" ", "+")),
        relay_state=given.get("RelayState", ""),
        algorithm=given.get("SigAlg", ""),
        signature=decode(given["Signature"].replace(" ", "+")) if given.get("Signature") else b"",
        signed_octets=b"&".join(word.encode() + b"=" + raw[word] for word in order),
    )


def check_relay_state(text: str) -> None:
    if len(text) > MOST_RELAY_STATE or "\0" in text:
        raise SAMLError("The RelayState is too long.")


def write_query(
    url: str, name: str, data: bytes, *, relay_state: str = "", key: str | None = None, algorithm: str = "rsa-sha256"
) -> str:
    """The address with the message in its query, signed if there is a key."""
    parts = [(name, deflate(data))]
    if relay_state:
        parts.append(("RelayState", relay_state))
    if key is not None:
        parts.append(("SigAlg", SIGNATURES[algorithm]))
    query = "&".join(f"{word}={quote(value, safe='')}" for word, value in parts)
    if key is not None:
        query += f"&Signature={quote(encode(sign_octets(query.encode(), key, algorithm)), safe='')}"
    return f"{url}{'&' if '?' in url else '?'}{query}"


# The signature of a query


def sign_octets(octets: bytes, key: str, algorithm: str) -> bytes:
    from kith.identity.saml import octet_signatures  # noqa: PLC0415 - loaded when first used

    return octet_signatures.sign(octets, key, algorithm)


def verify_query(message: QueryMessage, *, certificate: str, allow_sha1: bool = False) -> None:
    """Raise `BadSignature` unless the query is signed with the certificate's key."""
    from kith.identity.saml import octet_signatures  # noqa: PLC0415 - loaded when first used

    if not message.signature or not message.algorithm:
        raise BadSignature("The message is not signed.")
    algorithm = next((name for name, uri in SIGNATURES.items() if uri == message.algorithm), None)
    if algorithm is None or (algorithm.endswith("sha1") and not allow_sha1):
        raise BadSignature("The signature's algorithm is not allowed.")
    if octet_signatures.key_type_of(certificate) != KEY_TYPES[algorithm]:
        raise BadSignature("The signature's algorithm does not fit the certificate.")
    if not octet_signatures.is_right(message.signed_octets, message.signature, certificate, algorithm):
        raise BadSignature("The signature is wrong.")
