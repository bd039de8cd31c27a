"""What a client may be let do. Scopes of the social half form a tree; those of the identity half are plain words."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_READ = (
    "accounts",
    "blocks",
    "bookmarks",
    "collections",
    "favourites",
    "filters",
    "follows",
    "lists",
    "mutes",
    "notifications",
    "search",
    "statuses",
)
_WRITE = (
    "accounts", "blocks", "bookmarks", "collections", "conversations", "favourites", "filters", "follows", "lists",
    "media", "mutes", "notifications", "reports", "statuses",
)  # fmt: skip
_ADMIN = (
    "accounts",
    "reports",
    "domain_allows",
    "domain_blocks",
    "ip_blocks",
    "email_domain_blocks",
    "canonical_email_blocks",
)

# A parent and what it includes; `follow` is the old word for what people do to each other.
PARENTS: dict[str, tuple[str, ...]] = {
    "read": tuple(f"read:{name}" for name in _READ),
    "write": tuple(f"write:{name}" for name in _WRITE),
    "follow": tuple(f"{verb}:{name}" for verb in ("read", "write") for name in ("blocks", "follows", "mutes")),
    "admin:read": tuple(f"admin:read:{name}" for name in _ADMIN),
    "admin:write": tuple(f"admin:write:{name}" for name in _ADMIN),
}
_ALONE = ("profile", "push", "crypto")
SOCIAL: tuple[str, ...] = (*PARENTS, *_ALONE, *dict.fromkeys(child for below in PARENTS.values() for child in below))
DEFAULT_SOCIAL = "read"
SIGN_IN = "openid"  # that somebody signs in, and is who they are
OPENID_DEFAULTS = (SIGN_IN, "profile", "email", "offline_access")
ENTITLEMENTS = "entitlements"  # what somebody may do within the application
IDENTITY = "api"  # what opens the identity API
KNOWN: tuple[str, ...] = tuple(dict.fromkeys((IDENTITY, *SOCIAL, *OPENID_DEFAULTS, ENTITLEMENTS, "groups", "dcr")))

_SOCIAL = frozenset(SOCIAL)
_BELOW = {parent: frozenset((parent, *below)) for parent, below in PARENTS.items()}
_ABOVE: dict[str, frozenset[str]] = {
    scope: frozenset({scope, *(parent for parent, below in PARENTS.items() if scope in below)}) for scope in SOCIAL
}


def split(text: str) -> list[str]:
    """The words of a scope parameter, each once, in the order they came."""
    return list(dict.fromkeys(text.split()))


def are_social(scopes: Iterable[str]) -> bool:
    return all(scope in _SOCIAL for scope in scopes)


def covers(granted: Iterable[str], needed: str) -> bool:
    """Whether what was granted lets somebody do what `needed` names: itself, or a parent of it."""
    return not _ABOVE.get(needed, frozenset((needed,))).isdisjoint(granted)


def within(asked: Iterable[str], allowed: Iterable[str]) -> bool:
    """Whether everything asked for is allowed, by itself or by a parent."""
    reach = {scope for one in allowed for scope in _BELOW.get(one, (one,))}
    return all(_BELOW.get(scope, frozenset((scope,))) <= reach for scope in asked)


def common(asked: Iterable[str], allowed: Iterable[str]) -> list[str]:
    """What both include: of `read` and `read:statuses`, the latter."""
    one, other = list(asked), list(allowed)
    both = [*(scope for scope in one if within([scope], other)), *(scope for scope in other if within([scope], one))]
    return list(dict.fromkeys(both))


def complain(scopes: Iterable[str]) -> str | None:
    """What is wrong with scopes that somebody wrote by hand, and what they may have meant."""
    for scope in scopes:
        if scope not in KNOWN:
            near = difflib.get_close_matches(scope, KNOWN, n=3, cutoff=0.5)
            hint = f" Did you mean {' or '.join(near)}?" if near else f" There are: {', '.join(KNOWN)}."
            return f'"{scope[:100]}" is not a scope.{hint}'
    return None
