"""The policies for new passwords: those of the form in which people change theirs.

That form is in the flow that the password stages name (`configure_flow`). Passwords set by the API, the command line,
the set-up link or another form must pass the same policies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import select

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.expressions import subjects
from kith.identity.flows.resources import bindings
from kith.identity.policies.bindings import bindings as policy_bindings
from kith.identity.policies.engine import evaluate_target, judge
from kith.identity.policies.family import policies
from kith.identity.policies.kinds import password as password_policy
from kith.identity.policies.request import PolicyRequest
from kith.identity.stages.kinds import password as password_stage
from kith.identity.stages.prompts import prompts
from kith.identity.stages.tables import prompt_fields, prompt_stages, validation_policies
from kith.identity.users.service import FEWEST_CHARACTERS

REFUSED = "This password is not accepted here."
TOO_SHORT = f"The password must have at least {FEWEST_CHARACTERS} characters."

assert password_stage.RESOURCE.table is not None  # noqa: S101 - a password stage has fields of its own
_asking = password_stage.RESOURCE.table
_forms = query(
    select(prompt_stages.c.pbm_uuid, prompts.c.field_key)
    .select_from(
        prompt_stages.join(bindings, bindings.c.stage == prompt_stages.c.stage_uuid)
        .join(prompt_fields, prompt_fields.c.owner == prompt_stages.c.pbm_uuid)
        .join(prompts, prompts.c.prompt_uuid == prompt_fields.c.other)
    )
    .where(prompts.c.type == "password", bindings.c.flow.in_(select(_asking.c.configure_flow)))
    .order_by(prompt_stages.c.pbm_uuid, prompts.c.field_key),
    tuple,
)
assert password_policy.RESOURCE.table is not None  # noqa: S101 - nor is a password policy without
_judging = password_policy.RESOURCE.table


class PasswordRecord(msgspec.Struct):
    """As much of a password policy as can be told before."""

    password_field: str
    length_min: int
    amount_uppercase: int
    amount_lowercase: int
    amount_digits: int
    amount_symbols: int


_policies = query(
    select(policies.c.policy_uuid)
    .where(
        policies.c.policy_uuid.in_(
            select(validation_policies.c.other).where(any_of(validation_policies.c.owner, "forms"))
        )
    )
    .order_by(policies.c.name, policies.c.policy_uuid),
    str,
)


_records = query(
    select(*(_judging.c[name] for name in PasswordRecord.__struct_fields__)).where(
        any_of(_judging.c.policy_uuid, "ids")
        | _judging.c.policy_uuid.in_(
            select(policy_bindings.c.policy).where(
                any_of(policy_bindings.c.target, "ids"), policy_bindings.c.enabled, ~policy_bindings.c.negate
            )
        ),
        _judging.c.check_static_rules,
    ),
    PasswordRecord,
)


class PasswordRule(msgspec.Struct, frozen=True):
    """What a new password needs at least: `length`, `uppercase`, `lowercase`, `digits` or `symbols`."""

    name: str
    least: int


async def told(work: Work, asked: Sequence[str], names: Sequence[str]) -> list[PasswordRule]:
    """What can be said before a password is typed. `asked` are the form and its policies, `names` its questions."""
    forms = list(dict.fromkeys(form for form, _ in await work.db.all(_forms)))
    found = [] if forms else [PasswordRule("length", FEWEST_CHARACTERS)]
    ids = [*asked, *forms, *(await work.db.all(_policies, forms=forms) if forms else ())]
    for one in await work.db.all(_records, ids=ids):
        if one.password_field in names:
            found += [
                PasswordRule("length", one.length_min),
                PasswordRule("uppercase", one.amount_uppercase),
                PasswordRule("lowercase", one.amount_lowercase),
                PasswordRule("digits", one.amount_digits),
                PasswordRule("symbols", one.amount_symbols),
            ]
    most = {name: max(one.least for one in found if one.name == name) for name in dict.fromkeys(o.name for o in found)}
    return [PasswordRule(name, least) for name, least in most.items() if least > 0]


class FormPasswordRules:
    """Implements `users.password_rules.PasswordRules`."""

    async def ask(self, work: Work, password: str, user_id: int | None, known: Mapping[str, str]) -> list[str]:
        return await complain(work, password, user_id, known)


async def complain(
    work: Work, password: str, user_id: int | None, known: Mapping[str, Any], *, asked: frozenset[str] = frozenset()
) -> list[str]:
    """Why the password is refused; `asked` are forms and policies that it has passed already."""
    found = await work.db.all(_forms)
    forms = list(dict.fromkeys(form for form, _ in found))
    if not forms:
        return [TOO_SHORT] if len(password) < FEWEST_CHARACTERS else []
    data = {**known, "password": password, **{field: password for _, field in found}}
    person = await subjects.find(work, user_id) if user_id is not None else None
    context, hidden = {**data, "prompt_data": data}, frozenset((password,))
    request = PolicyRequest(person=person, context=context, client_ip=work.origin.address, hidden=hidden)
    verdicts = [await evaluate_target(work, form, request, "all") for form in forms if form not in asked]
    policies_asked = [one for one in await work.db.all(_policies, forms=forms) if one not in asked]
    verdicts += [await judge(work, one, request) for one in policies_asked]
    refused = [verdict.messages or [REFUSED] for verdict in verdicts if not verdict.passing]
    return list(dict.fromkeys(words for messages in refused for words in messages))


def print_of(password: str) -> str:
    """A hash by which a later step recognises a password that was checked."""
    return hashlib.sha256(password.encode("utf-8", "surrogatepass")).hexdigest()
