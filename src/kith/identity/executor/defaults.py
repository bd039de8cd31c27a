"""The flows that are there from the first start, and can always be brought back.

What is missing is made; what an administrator has changed is left as it is. `restore` makes the shipped flows
what they were.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, delete, select

from kith.base.db import UID, command, query
from kith.base.work import Work
from kith.identity.caller import Caller
from kith.identity.flows import resources as flows
from kith.identity.flows.stages import stages
from kith.identity.policies.bindings import bindings as policy_bindings
from kith.identity.rest import verbs
from kith.identity.rest.shelf import Shelf
from kith.identity.stages import collections as stage_room
from kith.identity.stages.prompts import prompts

SYSTEM = Caller(id=0, username="kith", role="owner", permissions=None)
_SHELVES = {resource.record: Shelf(resource) for resource in (*stage_room.RESOURCES, flows.FLOWS, flows.BINDINGS)}

_flow_named = query(select(flows.flows.c.flow_uuid).where(flows.flows.c.slug == bindparam("slug")), str)
_stage_named = query(select(stages.c.stage_uuid).where(stages.c.name == bindparam("name")), str)
_prompt_named = query(select(prompts.c.prompt_uuid).where(prompts.c.name == bindparam("name")), str)
_bindings_of = query(
    select(flows.bindings.c.fsb_uuid).where(flows.bindings.c.flow == bindparam("flow", type_=UID())), str
)

PROMPTS: dict[str, dict[str, Any]] = {
    "default-username": {"field_key": "username", "label": "User name", "type": "username", "order": 0},
    "default-name": {"field_key": "name", "label": "Name", "type": "text", "order": 10, "required": False},
    "default-email": {"field_key": "email", "label": "E-mail address", "type": "email", "order": 20},
    "default-password": {"field_key": "password", "label": "Password", "type": "password", "order": 30},
    "default-password-repeat": {
        "field_key": "password_repeat", "label": "Password, again", "type": "password", "order": 40,
    },
}  # fmt: skip

STAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "default-authentication-identification": (
        "IdentificationStage",
        {"user_fields": ["username", "email"], "template": "login"},
    ),
    "default-authentication-password": ("PasswordStage", {"backends": ["internal"]}),
    "default-authentication-login": ("UserLoginStage", {}),
    "default-invalidation-logout": ("UserLogoutStage", {}),
    "default-enrollment-prompt": (
        "PromptStage",
        {
            "fields": [
                "default-username",
                "default-name",
                "default-email",
                "default-password",
                "default-password-repeat",
            ]
        },
    ),
    "default-enrollment-write": ("UserWriteStage", {"user_creation_mode": "always_create", "user_type": "internal"}),
    "default-password-change-prompt": ("PromptStage", {"fields": ["default-password", "default-password-repeat"]}),
    "default-password-change-write": ("UserWriteStage", {"user_creation_mode": "never_create"}),
    "default-unenrollment-delete": ("UserDeleteStage", {}),
    "default-provider-authorization-consent": ("ConsentStage", {"mode": "always_require"}),
}

FLOWS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "default-authentication-flow": (
        {"name": "Sign in", "designation": "authentication", "authentication": "require_unauthenticated"},
        (
            "default-authentication-identification",
            "default-authentication-password",
            "default-authentication-login",
        ),
    ),
    "default-invalidation-flow": (
        {"name": "Sign out", "designation": "invalidation"},
        ("default-invalidation-logout",),
    ),
    "default-enrollment-flow": (
        {"name": "Sign up", "designation": "enrollment", "authentication": "require_unauthenticated"},
        ("default-enrollment-prompt", "default-enrollment-write", "default-authentication-login"),
    ),
    "default-password-change": (
        {"name": "Change password", "designation": "stage_setup", "authentication": "require_authenticated"},
        ("default-password-change-prompt", "default-password-change-write"),
    ),
    "default-unenrollment-flow": (
        {"name": "Delete account", "designation": "unenrollment", "authentication": "require_authenticated"},
        ("default-unenrollment-delete",),
    ),
    "default-provider-authorization-explicit-consent": (
        {"name": "Authorize application", "designation": "authorization", "authentication": "require_authenticated"},
        ("default-provider-authorization-consent",),
    ),
    "default-provider-authorization-implicit-consent": (
        {"name": "Authorize application", "designation": "authorization", "authentication": "require_authenticated"},
        (),
    ),
}


async def ensure(work: Work) -> int:
    """Make what is missing; how many flows were."""
    await work.db.begin()
    made = 0
    for slug in FLOWS:
        if await work.db.one(_flow_named, slug=slug) is None:
            await _make_flow(work, slug)
            made += 1
    return made


async def restore(work: Work) -> None:
    """Make every shipped flow what it was: its own stages in their order, and no policy in the way."""
    await work.db.begin()
    for slug, (values, _) in FLOWS.items():
        found = await work.db.one(_flow_named, slug=slug)
        if found is None:
            await _make_flow(work, slug)
            continue
        for binding in await work.db.all(_bindings_of, flow=found):
            await verbs.remove(_SHELVES["FlowStageBinding"], work, SYSTEM, binding)
        await verbs.update(_SHELVES["Flow"], work, SYSTEM, found, values, whole=False)
        await work.db.run(_unbind_flow, flow=found)
        await _bind(work, slug, found)


async def _make_flow(work: Work, slug: str) -> None:
    values, _ = FLOWS[slug]
    flow = await verbs.create(_SHELVES["Flow"], work, SYSTEM, {"slug": slug, **values})
    await _bind(work, slug, flow["pk"])


async def _bind(work: Work, slug: str, flow_uuid: str) -> None:
    for place, stage in enumerate(FLOWS[slug][1]):
        body = {"flow": flow_uuid, "stage": await _stage(work, stage), "order": place * 10}
        await verbs.create(_SHELVES["FlowStageBinding"], work, SYSTEM, body)


async def _stage(work: Work, name: str) -> str:
    found = await work.db.one(_stage_named, name=name)
    if found is not None:
        return found
    record, values = STAGES[name]
    if "fields" in values:
        values = values | {"fields": [await _prompt(work, one) for one in values["fields"]]}
    made = await verbs.create(_SHELVES[record], work, SYSTEM, {"name": name, **values})
    stage_uuid: str = made.get("stage_uuid", made["pk"])
    return stage_uuid


async def _prompt(work: Work, name: str) -> str:
    found = await work.db.one(_prompt_named, name=name)
    if found is not None:
        return found
    body = {"name": name, "placeholder": PROMPTS[name]["label"], **PROMPTS[name]}
    made = await verbs.create(_SHELVES["Prompt"], work, SYSTEM, body)
    prompt_uuid: str = made["pk"]
    return prompt_uuid


_unbind_flow = command(
    delete(policy_bindings).where(
        policy_bindings.c.target.in_(
            select(flows.flows.c.pbm_uuid).where(flows.flows.c.flow_uuid == bindparam("flow", type_=UID()))
        )
    )
)
