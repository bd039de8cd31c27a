"""The signatures that the facts of federation give as examples, with the key they are by."""

from __future__ import annotations

from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from kith.federation.signatures.received import ReceivedRequest

AT = datetime(2024, 3, 5, 10, 0, tzinfo=UTC)
ORIGIN = "https://b.example"
KEY_ID = "https://a.example/users/alice#main-key"
PEM = """-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAjTmf1xZkYPRpGjJbXNww
gMCht9AETpD/412D1U026qQT4A3lJxhPfEqNpXFP+8EBaeaC9K9tiKrT+8ao4u72
V9xKFuCagnEWfko0uiCw/UPtfns/9i773kZaNtl0sh8PdMDrdQpHP6Xp7Ap2nRwz
SjZaofoFpGapTNap3m5+hjYNpy45IkOz/d9VE1nUU6RlrOe8qMv8iuOq90GOZJ+T
jtG8xZKpwIj6ik6+k9Qjz2TLDh682y0PjB8D9BxMrZg2eNTr4Y3icdEsZIIWEcTe
T68Z4yk48e6KQUv4GV4BZquXB/r0Zx2RgtXQcCl/EDK4pH87WVNQ7nkBXNlWvH5z
NQIDAQAB
-----END PUBLIC KEY-----
"""
BODY = (
    b'{"@context":"https://www.w3.org/ns/activitystreams","id":"https://a.example/users/alice#likes/1","type":"Like",'
    b'"actor":"https://a.example/users/alice","object":"https://b.example/users/bob/statuses/1"}'
)
DIGEST = "SHA-256=iZDpgAFjykL8bygj68wKIPxOFRvFjPgXF84nDpT+zUk="
CONTENT_DIGEST = "sha-256=:iZDpgAFjykL8bygj68wKIPxOFRvFjPgXF84nDpT+zUk=:"
DATE = "Tue, 05 Mar 2024 10:00:00 GMT"

POST_SIGNATURE = (
    "H1UYl9TUtAjFzH1DjwmJwjiqQ+HwUUO+yp7mVX1HA1fHmtV/H64YpvFlly5lNFoQepErEf4oXxMMOkHR4+6MEqsDs0HG7J98u27Ip5m891RnfWwc53"
    "QCn9wdTveW72iX559lfSF/wI7VkMAYSivZWq1zQisImg6SrNVNQbcuPeiIg1qweLqf4xU2DWYo7eR+QXJPC1W4FNpNzwQjjFc2ziXvcpfcZ1OoSWYU"
    "RFxWItPuj6tMuYRHWvT2HIZAJhDhGe2HIBi2KWCD9Iq8/1K+B9BvFP5LRkx9SjGpEvl3rgNLbWKulC1iu4vX8d5IzOPxugvZG2xiN/ihyX5X3XuE+g=="
)
GET_SIGNATURE = (
    "PQJCjn1ZuzrbS5ujdWHI985MGa/sLH0Bpc14ISqqtAURmrHeOA1wKpPwjUtD1VwOojwJn89GHQTtc2fWGG/sKCdApv/9mhnR9NtBQ46+6H8bUhfzQ3Qs"
    "/vSH++99GWGmCNqesIi1Qg0UyXDWu2Y8Dxs5UJ/pwKI26mJwUx7OHGHkN8mO6SmcM4SvuQDYjRu3tEgj6OdfXFoQcfeRkcca73aeCwyvNElbfzHSADmC"
    "66sS6TMZgB64f3kSXcRobFowH9kW0rRZAacPqOWAQKsgTL11a1d4tKs4mNhTSvIshnLqGbghJBBupaNNlvmqznQjLUOy6KB00JeBsUJFbPU+mw=="
)
MESSAGE_SIGNATURE = (
    "iod2ektZF3SsvqfCqhLzctH3EfdaU3qy9+saBvSjZ6VrFnwsnsvQa5ezQrDCf8Zn3A924GIuVXJR36yWqzO9uwy3z3GuA77bYz6Dd+To7yET9JTHa9a6"
    "YixMK1hERUwpWaiJxWZMP4vy1FlbEarSmVAvb7vqJZ1hGrqJGKbSRbuiGsbnE0Yaf3VjYKnv1WJ9K4LxtV8X+MHZVBJFDotmqajrtdU+fI8U6w3tingQ"
    "k6Nbi9QLBunI92CvDrU+4wJXryUFPR0ld8Oa0DqZBSAvJmW2r7gHPHTprk9r+8Gtpl4wiI3IWly0NuSiFnATVGx746W/WzPWZtf74m68ai5sgQ=="
)
POST_HEADERS = {
    "host": "b.example",
    "date": DATE,
    "digest": DIGEST,
    "content-type": "application/activity+json",
    "signature": (
        f'keyId="{KEY_ID}",algorithm="rsa-sha256",headers="(request-target) host date digest content-type",'
        f'signature="{POST_SIGNATURE}"'
    ),
}
GET_HEADERS = {
    "host": "b.example",
    "date": DATE,
    "signature": (
        f'keyId="{KEY_ID}",algorithm="rsa-sha256",headers="(request-target) host date",signature="{GET_SIGNATURE}"'
    ),
}
MESSAGE_PARAMETERS = f'("@method" "@target-uri" "content-digest");created=1709632800;keyid="{KEY_ID}"'
MESSAGE_HEADERS = {
    "content-digest": CONTENT_DIGEST,
    "signature-input": f"sig1={MESSAGE_PARAMETERS}",
    "signature": f"sig1=:{MESSAGE_SIGNATURE}:",
}


def public_key() -> RSAPublicKey:
    key = load_pem_public_key(PEM.encode())
    assert isinstance(key, RSAPublicKey)
    return key


def received(
    headers: dict[str, str],
    method: str = "POST",
    target: str = "/users/bob/inbox",
    body: bytes = BODY,
    origins: tuple[str, ...] = (ORIGIN,),
) -> ReceivedRequest:
    path, _, query = target.partition("?")
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    return ReceivedRequest(method, path.encode(), query.encode(), raw, body, origins=origins)
