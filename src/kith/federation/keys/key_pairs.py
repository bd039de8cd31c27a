"""RSA key pairs of our own: made, written down and read.

Making one takes a good part of a second and is done in a thread; reading one that we made ourselves takes microseconds,
because it is not checked again whether its numbers are primes.
"""

from __future__ import annotations

import asyncio

from kith.base import crypto

__all__ = ["generate", "new_pair", "read_private_key"]

BITS = 2048


async def new_pair() -> tuple[str, str]:
    """The public key and the private key, as PEM texts."""
    return await asyncio.to_thread(generate)


def generate() -> tuple[str, str]:
    """The same, for whoever is in a thread already."""
    key = crypto.rsa.generate_private_key(public_exponent=65537, key_size=BITS)
    public = key.public_key().public_bytes(crypto.Encoding.PEM, crypto.PublicFormat.SubjectPublicKeyInfo)
    private = key.private_bytes(crypto.Encoding.PEM, crypto.PrivateFormat.PKCS8, crypto.NoEncryption())
    return public.decode(), private.decode()


def read_private_key(pem: str) -> crypto.RSAPrivateKey:
    """Only for keys that we made and sealed."""
    key = crypto.load_pem_private_key(pem.encode(), password=None, unsafe_skip_rsa_key_validation=True)
    if not isinstance(key, crypto.RSAPrivateKey):
        raise TypeError("a key of ours is not an RSA key")
    return key
