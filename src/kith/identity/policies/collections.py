from __future__ import annotations

from typing import Any

from kith.identity.policies import api, bindings, every, scores
from kith.identity.policies.kinds import (
    breachcheck,
    dummy,
    expression,
    group_membership,
    password,
    passwordexpiry,
    reputation,
)
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource[Any], ...] = (
    every.RESOURCE,
    bindings.RESOURCE,
    breachcheck.RESOURCE,
    dummy.RESOURCE,
    expression.RESOURCE,
    group_membership.RESOURCE,
    password.RESOURCE,
    passwordexpiry.RESOURCE,
    reputation.RESOURCE,
    scores.RESOURCE,
)
ACTIONS: tuple[Action, ...] = (api.TEST,)
