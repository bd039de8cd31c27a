"""Passes for certain events of the audit trail: for notification rules, which put the event into the context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.policies.family import POLICIES, PolicyRecord
from kith.identity.policies.request import CannotTell, PolicyRequest, PolicyVerdict
from kith.identity.rest.fields import Text
from kith.identity.rest.record_draft import RecordDraft
from kith.identity.rest.resource import Resource, kind_table

MOST_WORDS = 10

FIELDS = (
    Text(name="action", null=True, default=None, most=60, help="Such as login_failed."),
    Text(name="client_ip", null=True, default=None, most=50, help="An address, or a network such as 10.0.0.0/8."),
    Text(name="app", null=True, default=None, most=100, help="Such as core.user, or core for all that begin so."),
    Text(name="model", null=True, default=None, most=100, help="What was changed: core.user, or user."),
    Text(name="query", null=True, default=None, most=200, help="Words, each of which the event must hold somewhere."),
)


class EventMatcherPolicy(PolicyRecord, kw_only=True):
    action: str | None
    client_ip: str | None
    app: str | None
    model: str | None
    query: str | None


@lru_cache(256)
def _network(text: str) -> IPv4Network | IPv6Network:
    return ip_network(text, strict=False)


async def check(draft: RecordDraft[EventMatcherPolicy]) -> None:
    for name in ("action", "client_ip", "app", "model", "query"):
        if draft.value(name) == "":
            draft.values[name] = None  # a form sends this for what is not asked
    if draft.now.client_ip is not None:
        try:
            _network(draft.now.client_ip)
        except ValueError:
            draft.complain("client_ip", "Enter an address or a network such as 10.0.0.0/8.")
    if draft.now.query is not None and len(draft.now.query.split()) > MOST_WORDS:
        draft.complain("query", f"Ensure this field has no more than {MOST_WORDS} words.")


def _is_from(wanted: str, event: Mapping[str, Any]) -> bool:
    try:
        return ip_address(str(event.get("client_ip"))) in _network(wanted)
    except ValueError:
        return False


def _is_in_app(wanted: str, event: Mapping[str, Any]) -> bool:
    app = str(event.get("app", ""))
    return app == wanted or app.startswith(f"{wanted}.")


def _is_about(wanted: str, event: Mapping[str, Any]) -> bool:
    context = event.get("context")
    model = context.get("model") if isinstance(context, Mapping) else None
    if not isinstance(model, Mapping):
        return False
    name = str(model.get("model_name"))
    return wanted in (name, f"{model.get('app')}.{name}")


def _holds(wanted: str, event: Mapping[str, Any]) -> bool:
    text = msgspec.json.encode(dict(event), enc_hook=str).decode().lower()
    return all(word in text for word in wanted.lower().split())


_TESTS: dict[str, Callable[[str, Mapping[str, Any]], bool]] = {
    "action": lambda wanted, event: event.get("action") == wanted.lower(),
    "client_ip": _is_from,
    "app": _is_in_app,
    "model": _is_about,
    "query": _holds,
}


def mismatches(record: EventMatcherPolicy, event: Mapping[str, Any]) -> list[str]:
    """The fields by which the event is not meant; empty if it is."""
    asked = {name: getattr(record, name) for name in _TESTS}
    return [name for name, wanted in asked.items() if wanted is not None and not _TESTS[name](wanted, event)]


async def passes(work: Work, record: EventMatcherPolicy, request: PolicyRequest) -> PolicyVerdict:  # noqa: ARG001 - as all kinds
    event = request.context.get("event")
    if not isinstance(event, Mapping):
        raise CannotTell("There is no event in the context.")
    others = mismatches(record, event)
    return PolicyVerdict(passing=not others, log=[f"{name} does not match" for name in others])


event_matchers = kind_table("identity_policies_event_matcher", POLICIES, FIELDS)

RESOURCE = Resource(
    path="/policies/event_matcher/",
    name="EventMatcherPolicy",
    record=EventMatcherPolicy,
    key="policy_uuid",
    family=POLICIES,
    kind="event_matcher",
    table=event_matchers,
    fields=FIELDS,
    exact=("name", "action", "client_ip", "app", "model"),
    prepare=check,
)
