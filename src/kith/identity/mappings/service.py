"""Evaluating a mapping for a person, or for data of a source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kith.base.work import Work
from kith.identity.audit.hidden_attributes import hidden_attributes
from kith.identity.expressions.helpers import helpers_for
from kith.identity.expressions.run import ExpressionObject, ExpressionResult, Expressions
from kith.identity.expressions.subjects import PolicySubject


async def evaluate(
    work: Work,
    expression: str,
    person: PolicySubject | None,
    given: Mapping[str, Any],
    *,
    is_test: bool = False,
    looks_up: bool = True,
) -> ExpressionResult:
    """`given` is what this kind of mapping knows besides the person: `ldap`, `provider`, `token` and the like.

    An outcome with an error means that the mapping is left out; who asks writes that down.
    """
    origin = work.origin
    user = person.facts(await hidden_attributes(work)) if person else None
    if user is not None and "entitlements" in given:
        user["entitlements"] = given["entitlements"]
    http_request = ExpressionObject(
        method=origin.method, path=origin.path, user_agent=origin.user_agent, client_ip=origin.address
    )
    request = ExpressionObject(user=user, context=dict(given), client_ip=origin.address, http_request=http_request)
    variables = {**given, "user": user, "request": request, "http_request": http_request}
    return await work.find(Expressions).run(
        expression, variables, helpers_for(work, person, is_test=is_test, looks_up=looks_up)
    )
