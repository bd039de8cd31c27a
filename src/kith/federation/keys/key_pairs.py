"""RSA key pairs of our own: made, written down and read.

Making one takes a good part of a second and is done in a thread; reading one that we made ourselves takes microseconds,
because it is not checked again whether its numbers are primes.
"""

from __future__ import annotations

import asyncio

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

__all__ = ["generate", "new_pair", "read_private_key"]

BITS = 2048


async def new_pair() -> tuple[str, str]:
    """The public key and the private key, as PEM texts."""
    return await asyncio.to_thread(generate)


def generate() -> tuple[str, str]:
    """The same, for whoever is in a thread already."""
    key = generate_private_key(public_exponent=65537, key_size=BITS)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return public.decode(), private.decode()


def read_private_key(pem: str) -> RSAPrivateKey:
    """Only for keys that we made and sealed."""
    key = load_pem_private_key(pem.encode(), password=None, unsafe_skip_rsa_key_validation=True)
    if not isinstance(key, RSAPrivateKey):
        raise TypeError("a key of ours is not an RSA key")
    return key
