"""Which scopes a client may get, and evaluating its mappings for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import select

from kith.base.counted_log import log_counted
from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.applications import entitlements
from kith.identity.audit import service as audit
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.expressions.values import ExpressionObject
from kith.identity.mappings import service as mappings
from kith.identity.mappings.defaults import PROFILE
from kith.identity.mappings.family import mappings as mapping_rows
from kith.identity.mappings.kinds.scope import RESOURCE
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.clients.scopes import (
    DEFAULT_SOCIAL,
    ENTITLEMENTS,
    OPENID_DEFAULTS,
    SOCIAL,
    split,
    within,
)

# What belongs to the social half alone; `profile` is a word of both.
_FOREIGN = frozenset(SOCIAL) - frozenset(OPENID_DEFAULTS)


class ScopeExpression(msgspec.Struct, frozen=True):
    pm_uuid: str
    name: str
    scope_name: str
    description: str
    expression: str


assert RESOURCE.table is not None  # noqa: S101 - a kind has one
_kind = RESOURCE.table
_of_client = query(
    select(
        mapping_rows.c.pm_uuid, mapping_rows.c.name, _kind.c.scope_name, _kind.c.description, mapping_rows.c.expression
    )
    .join(_kind, _kind.c.pm_uuid == mapping_rows.c.pm_uuid)
    .where(any_of(mapping_rows.c.pm_uuid, "ids"))
    .order_by(_kind.c.scope_name, mapping_rows.c.name, mapping_rows.c.pm_uuid),
    ScopeExpression,
)


async def mappings_of(work: Work, client: Client) -> list[ScopeExpression]:
    """By the name of their scope."""
    return await work.db.all(_of_client, ids=list(client.mappings)) if client.mappings else []


async def has_own_profile(work: Work, client: Client) -> bool:
    """Whether this client has a custom mapping for `profile`."""
    found = [one for one in await mappings_of(work, client) if one.scope_name == "profile"]
    return any(one.expression != PROFILE for one in found)


async def allowed_scopes(work: Work, client: Client) -> list[str]:
    """All scopes that this client may get, in the order of discovery.

    One that registered itself gets of what it registered what its provider may still give.
    """
    if client.is_social:
        return list(client.scopes or ())
    if client.app_id is not None:
        provider = msgspec.structs.replace(client, app_id=None, scopes=client.provider_scopes)
        given = await allowed_scopes(work, provider)
        return [scope for scope in client.scopes or () if scope in given]
    own = [one.scope_name for one in await mappings_of(work, client)]
    if client.scopes is None:
        return list(dict.fromkeys(own)) if own else [*OPENID_DEFAULTS, ENTITLEMENTS]
    is_bounded = client.scopes != OPENID_DEFAULTS
    return list(client.scopes) if is_bounded else list(dict.fromkeys((*client.scopes, *own, ENTITLEMENTS)))


async def granted_scopes(work: Work, client: Client, asked: str) -> list[str] | None:
    """Which of the scopes that a client asks for it gets, where no scope means the usual ones; None if too much.

    An app of the social half gets an error if it asks for too much, and `read` by default. For others unknown scopes
    are left out, all but `entitlements`, which few want, is the default, and scopes of the social half are never
    granted. What was granted already is narrowed with `within_allowed`: nothing of it stays nothing.
    """
    words = split(asked)
    if client.is_social:
        words = words or [DEFAULT_SOCIAL]
        return words if within(words, await allowed_scopes(work, client)) else None
    return await within_allowed(work, client, words or [one for one in await _own(work, client) if one != ENTITLEMENTS])


async def within_allowed(work: Work, client: Client, scopes: Sequence[str]) -> list[str]:
    """Those of these scopes that a client of an application may get, and no others."""
    allowed = await _own(work, client)
    return [scope for scope in scopes if scope in allowed]


async def _own(work: Work, client: Client) -> list[str]:
    return [scope for scope in await allowed_scopes(work, client) if scope not in _FOREIGN]


async def evaluate(
    work: Work, client: Client, person: PolicySubject, scopes: list[str]
) -> tuple[dict[str, Any], set[str]]:
    """The claims of the mappings of these scopes, later ones over earlier, and which scopes had any.

    A mapping that fails is left out, and an event is recorded.
    """
    told: dict[str, Any] = {}
    covered: set[str] = set()
    wanted = [one for one in await mappings_of(work, client) if one.scope_name in scopes]
    application = client.application
    given = {
        "provider": ExpressionObject(
            pk=client.provider_id,
            name=client.name,
            client_id=client.client_id,
            application=ExpressionObject(application.facts()) if application is not None else None,
        ),
        "token": {"scopes": list(scopes), "client_id": client.client_id},
        "oauth_scopes": list(scopes),
        "entitlements": await entitlements.facts_for(
            work, application.pbm_uuid if application is not None else None, person, *(one.expression for one in wanted)
        ),
    }
    for mapping in wanted:
        covered.add(mapping.scope_name)
        outcome = await mappings.evaluate(work, mapping.expression, person, given)
        wrong = outcome.error
        if wrong is None and outcome.value is not None and not isinstance(outcome.value, dict):
            wrong = "A scope mapping must return a dictionary, or nothing."
        if wrong is not None:
            await _write_down(work, mapping, person, wrong)
        elif outcome.value:
            told = _merged(told, outcome.value)
    return told, covered


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    both = dict(below)
    for name, value in above.items():
        under = both.get(name)
        both[name] = _merged(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return both


async def _write_down(work: Work, mapping: ScopeExpression, person: PolicySubject, wrong: str) -> None:
    log_counted("info", "oauth.mapping_failed", mapping.name, mapping=mapping.name, cause=wrong[:500])
    context = {
        "mapping": {"pk": mapping.pm_uuid, "name": mapping.name},
        "message": wrong[:2000],
    }
    async with work.aside() as aside:
        await audit.record(
            aside,
            "property_mapping_exception",
            "providers.oauth2",
            user_id=person.user.id,
            username=person.user.username,
            context=context,
        )
