"""The vocabulary of SAML 2.0: namespaces, bindings, name formats, status codes and algorithms. It loads no library."""

from __future__ import annotations

PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol"
ASSERTION = "urn:oasis:names:tc:SAML:2.0:assertion"
METADATA = "urn:oasis:names:tc:SAML:2.0:metadata"
XMLDSIG = "http://www.w3.org/2000/09/xmldsig#"
XMLENC = "http://www.w3.org/2001/04/xmlenc#"
XMLENC11 = "http://www.w3.org/2009/xmlenc11#"
MORE = "http://www.w3.org/2001/04/xmldsig-more#"
EXCLUSIVE_C14N = "http://www.w3.org/2001/10/xml-exc-c14n#"
ENVELOPED = f"{XMLDSIG}enveloped-signature"
SCHEMA = "http://www.w3.org/2001/XMLSchema"
SCHEMA_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
PREFIXES = {
    "samlp": PROTOCOL,
    "saml": ASSERTION,
    "md": METADATA,
    "ds": XMLDSIG,
    "xenc": XMLENC,
    "xs": SCHEMA,
    "xsi": SCHEMA_INSTANCE,
}

REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"

BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
ATTRIBUTE_URI = "urn:oasis:names:tc:SAML:2.0:attrname-format:uri"
ATTRIBUTE_BASIC = "urn:oasis:names:tc:SAML:2.0:attrname-format:basic"
ENTITY = "urn:oasis:names:tc:SAML:2.0:nameid-format:entity"

# Name formats
_V1, _V2 = "urn:oasis:names:tc:SAML:1.1:nameid-format:", "urn:oasis:names:tc:SAML:2.0:nameid-format:"
UNSPECIFIED = f"{_V1}unspecified"
EMAIL = f"{_V1}emailAddress"
X509_SUBJECT = f"{_V1}X509SubjectName"
WINDOWS = f"{_V1}WindowsDomainQualifiedName"
PERSISTENT = f"{_V2}persistent"
TRANSIENT = f"{_V2}transient"
NAME_FORMATS = (UNSPECIFIED, EMAIL, PERSISTENT, TRANSIENT, X509_SUBJECT, WINDOWS)
# Old software writes some formats with the other version's prefix.
OTHER_SPELLINGS = {
    f"{_V2}X509SubjectName": X509_SUBJECT,
    f"{_V2}WindowsDomainQualifiedName": WINDOWS,
    f"{_V2}unspecified": UNSPECIFIED,
    f"{_V2}emailAddress": EMAIL,
}


def name_format(uri: str) -> str | None:
    """The format in its standard spelling; None if it is unknown."""
    uri = OTHER_SPELLINGS.get(uri, uri)
    return uri if uri in NAME_FORMATS else None


# Status codes
_STATUS = "urn:oasis:names:tc:SAML:2.0:status:"
SUCCESS = f"{_STATUS}Success"
REQUESTER = f"{_STATUS}Requester"
RESPONDER = f"{_STATUS}Responder"
AUTHN_FAILED = f"{_STATUS}AuthnFailed"
NO_PASSIVE = f"{_STATUS}NoPassive"
NO_AUTHN_CONTEXT = f"{_STATUS}NoAuthnContext"
INVALID_NAME_ID_POLICY = f"{_STATUS}InvalidNameIDPolicy"
REQUEST_DENIED = f"{_STATUS}RequestDenied"
UNKNOWN_PRINCIPAL = f"{_STATUS}UnknownPrincipal"
PARTIAL_LOGOUT = f"{_STATUS}PartialLogout"

# How somebody signed in
_CONTEXT = "urn:oasis:names:tc:SAML:2.0:ac:classes:"
CONTEXT_UNSPECIFIED = f"{_CONTEXT}unspecified"
CONTEXT_PASSWORD = f"{_CONTEXT}Password"
CONTEXT_PASSWORD_PROTECTED = f"{_CONTEXT}PasswordProtectedTransport"
CONTEXT_ONE_FACTOR = f"{_CONTEXT}MobileOneFactorContract"
CONTEXT_TWO_FACTOR = f"{_CONTEXT}MobileTwoFactorContract"

# Algorithms, by the short names of the API
DIGESTS = {
    "sha1": f"{XMLDSIG}sha1",
    "sha256": f"{XMLENC}sha256",
    "sha384": f"{MORE}sha384",
    "sha512": f"{XMLENC}sha512",
}
SIGNATURES = {
    "rsa-sha1": f"{XMLDSIG}rsa-sha1",
    "dsa-sha1": f"{XMLDSIG}dsa-sha1",
    "ecdsa-sha1": f"{MORE}ecdsa-sha1",
} | {
    f"{key}-{digest}": f"{MORE}{key}-{digest}" for key in ("rsa", "ecdsa") for digest in ("sha256", "sha384", "sha512")
}
# The type of key that each signature algorithm needs.
KEY_TYPES = {name: {"ecdsa": "ec"}.get(name.partition("-")[0], name.partition("-")[0]) for name in SIGNATURES}
