"""Which collections of the identity API are models, and in which order their records come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kith.identity.blueprints.record_models import RecordModel
from kith.identity.blueprints.user_model import UserModel
from kith.identity.rest import Resource

__all__ = ["record_models"]

# Of the moment, of one person, or blueprints themselves.
NOT_HERE = frozenset(
    {
        "audit.event",
        "core.accessrequest",
        "core.authenticatedsession",
        "core.token",
        "core.userconsent",
        "events.notification",
        "managed.blueprintinstance",
        "policies.reputation",
        "providers.registeredclient",
        "providers.samlsession",
        "stages.invitation",
    }
)
_FIRST = ("rbac.role", "core.group", "core.user", "core.emailblock", "stages.prompt")


def record_models(resources: Iterable[Resource[Any]]) -> list[RecordModel]:
    made = [_model(one) for one in resources if not _is_left_out(f"{one.area}.{one.model}")]
    return sorted(made, key=lambda one: (_FIRST.index(one.name) if one.name in _FIRST else len(_FIRST), one.name))


def _is_left_out(name: str) -> bool:
    """Who is linked to which source belongs to people, too."""
    return name in NOT_HERE or name.endswith("sourceconnection")


def _model(resource: Resource[Any]) -> RecordModel:
    return UserModel(resource) if resource.model == "user" else RecordModel(resource)
