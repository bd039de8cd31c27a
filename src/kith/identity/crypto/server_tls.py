"""TLS with key pairs of the database."""

from __future__ import annotations

import os
import ssl

from kith.base import tls

__all__ = ["server_context"]


def server_context(certificate: str, key: str) -> ssl.SSLContext:
    """For a server with this certificate and key, both in PEM. The key is handed over in memory: never in a file."""
    context = tls.server_context()
    held = os.memfd_create("kith-tls")
    try:
        os.write(held, f"{certificate.strip()}\n{key.strip()}\n".encode())
        context.load_cert_chain(f"/proc/self/fd/{held}")
    finally:
        os.close(held)
    return context
