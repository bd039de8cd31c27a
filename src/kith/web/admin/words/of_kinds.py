"""What flows are for, and kinds of policies and stages, as people call them."""

from __future__ import annotations

from kith.web.admin.words.choices import CHOICES
from kith.web.admin.words.names import NAMES
from kith.web.translation import translatable

__all__ = ["designation", "policy", "stage"]

_BOUND = {"group": translatable("Group"), "user": translatable("Person")}


def designation(name: str) -> str:
    return CHOICES["designation"].get(name, name)


def policy(kind: str) -> str:
    """Also of what is bound in place of one."""
    return _BOUND.get(kind) or _named("policies", kind)


def stage(kind: str) -> str:
    return _named("stages", kind)


def _named(area: str, kind: str) -> str:
    found = NAMES.get(f"/{area}/{kind}/")
    return found.one if found is not None else kind
