from __future__ import annotations

from typing import Any

from kith.identity.policies import all_policies, api, bindings, reputation_scores
from kith.identity.policies.kinds import (
    breachcheck,
    dummy,
    event_matcher,
    expression,
    geoip,
    group_membership,
    password,
    passwordexpiry,
    reputation,
)
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource[Any], ...] = (
    all_policies.RESOURCE,
    bindings.RESOURCE,
    breachcheck.RESOURCE,
    dummy.RESOURCE,
    event_matcher.RESOURCE,
    expression.RESOURCE,
    geoip.RESOURCE,
    group_membership.RESOURCE,
    password.RESOURCE,
    passwordexpiry.RESOURCE,
    reputation.RESOURCE,
    reputation_scores.RESOURCE,
)
ACTIONS: tuple[Action, ...] = (api.TEST, api.TEST_EXPRESSION)
