"""How mail addresses are compared with those that are blocked."""

from __future__ import annotations

import hashlib


def canonical(email: str) -> str:
    """Lower case, without dots before the @ and without a note behind a plus."""
    local, _, host = email.strip().lower().rpartition("@")
    return f"{local.partition('+')[0].replace('.', '')}@{host}"


def hash_of(email: str) -> str:
    return hashlib.sha256(canonical(email).encode()).hexdigest()


def domains_of(email: str) -> list[str]:
    """The domain of an address and all above it."""
    labels = email.strip().lower().rpartition("@")[2].split(".")[-20:]
    return [".".join(labels[place:]) for place in range(len(labels))]
