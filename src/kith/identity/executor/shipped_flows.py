"""The flows that Kith ships. Missing ones are made at the start, changed ones are kept; `restore` resets them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, delete, select

from kith.base.db import UID, command, query
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.flows import resources as flows
from kith.identity.flows.stages import stages
from kith.identity.policies import bindings as policy_places
from kith.identity.policies.family import policies
from kith.identity.policies.kinds import expression as expression_policy
from kith.identity.policies.kinds import password as password_policy
from kith.identity.rest import operations
from kith.identity.rest.record_store import RecordStore
from kith.identity.signups.service import REASON
from kith.identity.stages import collections as stage_room
from kith.identity.stages.prompts import prompts
from kith.identity.stages.tables import prompt_stages

SYSTEM = ApiCaller(id=0, username="kith", role="owner", permissions=None, way="system")
_RECORDS: dict[str, RecordStore[Any]] = {
    resource.name: RecordStore(resource)
    for resource in (
        *stage_room.RESOURCES,
        flows.FLOWS,
        flows.BINDINGS,
        password_policy.RESOURCE,
        expression_policy.RESOURCE,
        policy_places.RESOURCE,
    )
}

_flow_named = query(select(flows.flows.c.flow_uuid).where(flows.flows.c.slug == bindparam("slug")), str)
_target_of = query(select(flows.flows.c.pbm_uuid).where(flows.flows.c.flow_uuid == bindparam("flow", type_=UID())), str)
_stage_named = query(select(stages.c.stage_uuid).where(stages.c.name == bindparam("name")), str)
_policy_named = query(select(policies.c.policy_uuid).where(policies.c.name == bindparam("name")), str)
_prompt_stage = query(
    select(prompt_stages.c.pbm_uuid).where(prompt_stages.c.stage_uuid == bindparam("stage", type_=UID())), str
)
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
        "field_key": "password_repeat",
        "label": "Repeat password",
        "type": "password",
        "order": 40,
    },
    # Asked only where staff decide who may join.
    "default-signup-reason": {
        "field_key": REASON,
        "label": "Why do you want to join?",
        "type": "text_area",
        "order": 50,
        "sub_text": "The people who run this server read it before they decide.",
    },
}

PASSWORD_POLICIES: dict[str, dict[str, Any]] = {
    "default-password-length": {
        "length_min": 8,
        "error_message": "The password must have at least 8 characters.",
    },
}

# By the flow, and by the stage in it or an empty text for the flow itself.
EXPRESSION_POLICIES: dict[str, str] = {
    "default-source-only-sso": "return is_sso_flow",
    "default-source-needs-username": 'return not context.get("prompt_data", {}).get("username")',
}
DECIDED: dict[tuple[str, str], str] = {
    ("default-source-authentication", ""): "default-source-only-sso",
    ("default-source-enrollment", ""): "default-source-only-sso",
    ("default-source-enrollment", "default-source-enrollment-prompt"): "default-source-needs-username",
}

# In a stage's values, these name other records of this page.
STAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "default-authentication-identification": (
        "IdentificationStage",
        {
            "user_fields": ["username", "email"],
            "template": "login",
            "webauthn_stage": "default-authentication-mfa-validation",
        },
    ),
    "default-authentication-mfa-validation": (
        "OTPValidateStage",
        {"not_configured_action": "skip", "device_classes": ["static", "totp", "webauthn"]},
    ),
    "default-authentication-password": (
        "PasswordStage",
        {"backends": ["internal", "ldap"], "allow_show_password": True},
    ),
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
                "default-signup-reason",
            ],
            "validation_policies": ["default-password-length"],
        },
    ),
    "default-enrollment-invitation": ("InvitationStage", {"continue_flow_without_invitation": True}),
    "default-enrollment-email": (
        "EmailStage",
        {"template": "account_confirmation", "subject": "Confirm your e-mail address", "token_expiry": 2 * 24 * 60},
    ),
    "default-enrollment-write": ("UserWriteStage", {"user_creation_mode": "always_create", "user_type": "internal"}),
    "default-password-change-prompt": (
        "PromptStage",
        {
            "fields": ["default-password", "default-password-repeat"],
            "validation_policies": ["default-password-length"],
        },
    ),
    "default-password-change-write": ("UserWriteStage", {"user_creation_mode": "never_create"}),
    "default-source-enrollment-prompt": ("PromptStage", {"fields": ["default-username"]}),
    "default-source-enrollment-write": (
        "UserWriteStage",
        {"user_creation_mode": "always_create", "user_type": "internal"},
    ),
    "default-unenrollment-delete": ("UserDeleteStage", {}),
    "default-provider-authorization-consent": ("ConsentStage", {"mode": "always_require"}),
    "default-recovery-identification": (
        "IdentificationStage",
        {"user_fields": ["username", "email"], "template": "recovery"},
    ),
    "default-recovery-email": ("EmailStage", {"template": "password_reset", "subject": "Choose a new password"}),
    "default-authenticator-totp-setup": ("OTPTimeStage", {"digits": 6, "friendly_name": "Authenticator app"}),
    "default-authenticator-static-setup": ("OTPStaticStage", {"friendly_name": "Recovery codes"}),
    "default-authenticator-webauthn-setup": ("WebAuthnStage", {"friendly_name": "Passkey"}),
}

# Flows that a stage leads to: both must be there first.
LINKS: tuple[tuple[str, str, str], ...] = (
    ("default-authentication-identification", "enrollment_flow", "default-enrollment-flow"),
    ("default-authentication-identification", "recovery_flow", "default-recovery-flow"),
    ("default-authentication-password", "configure_flow", "default-password-change"),
    ("default-authenticator-totp-setup", "configure_flow", "default-authenticator-totp-setup"),
    ("default-authenticator-static-setup", "configure_flow", "default-authenticator-static-setup"),
    ("default-authenticator-webauthn-setup", "configure_flow", "default-authenticator-webauthn-setup"),
)

FLOWS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "default-authentication-flow": (
        {"name": "Sign in", "designation": "authentication", "authentication": "require_unauthenticated"},
        (
            "default-authentication-identification",
            "default-authentication-password",
            "default-authentication-mfa-validation",
            "default-authentication-login",
        ),
    ),
    "default-invalidation-flow": (
        {"name": "Sign out", "designation": "invalidation"},
        ("default-invalidation-logout",),
    ),
    "default-enrollment-flow": (
        {"name": "Sign up", "designation": "enrollment", "authentication": "require_unauthenticated"},
        (
            "default-enrollment-invitation",
            "default-enrollment-prompt",
            "default-enrollment-write",
            "default-enrollment-email",
            "default-authentication-login",
        ),
    ),
    "default-password-change": (
        {"name": "Change password", "designation": "stage_setup", "authentication": "require_authenticated"},
        ("default-authentication-password", "default-password-change-prompt", "default-password-change-write"),
    ),
    "default-recovery-flow": (
        {"name": "Recover access", "designation": "recovery", "authentication": "require_unauthenticated"},
        (
            "default-recovery-identification",
            "default-recovery-email",
            # A mailbox is not a second factor: whoever has one is asked for it here too.
            "default-authentication-mfa-validation",
            "default-password-change-prompt",
            "default-password-change-write",
            "default-authentication-login",
        ),
    ),
    "default-source-authentication": (
        {"name": "Sign in", "designation": "authentication", "authentication": "require_unauthenticated"},
        ("default-authentication-login",),
    ),
    "default-source-enrollment": (
        {"name": "Sign up", "designation": "enrollment", "authentication": "require_unauthenticated"},
        ("default-source-enrollment-prompt", "default-source-enrollment-write", "default-authentication-login"),
    ),
    "default-authenticator-totp-setup": (
        {
            "name": "Set up an authenticator app",
            "designation": "stage_setup",
            "authentication": "require_authenticated",
        },
        ("default-authenticator-totp-setup",),
    ),
    "default-authenticator-static-setup": (
        {"name": "Create recovery codes", "designation": "stage_setup", "authentication": "require_authenticated"},
        ("default-authenticator-static-setup",),
    ),
    "default-authenticator-webauthn-setup": (
        {"name": "Set up a passkey", "designation": "stage_setup", "authentication": "require_authenticated"},
        ("default-authenticator-webauthn-setup",),
    ),
    "default-unenrollment-flow": (
        {"name": "Delete account", "designation": "unenrollment", "authentication": "require_authenticated"},
        ("default-authentication-password", "default-unenrollment-delete"),
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
    """Make the flows that are missing; returns how many."""
    await work.db.begin()
    made = [slug for slug in FLOWS if await work.db.one(_flow_named, slug=slug) is None]
    for slug in made:
        await _make_flow(work, slug)
    await _link(work, made)
    return len(made)


async def restore(work: Work) -> None:
    """Reset every shipped flow: its stages with their first settings, in order, without policies."""
    await work.db.begin()
    for slug, (values, _) in FLOWS.items():
        found = await work.db.one(_flow_named, slug=slug)
        if found is None:
            await _make_flow(work, slug)
            continue
        for binding in await work.db.all(_bindings_of, flow=found):
            await operations.remove(_RECORDS["FlowStageBinding"], work, SYSTEM, binding)
        await operations.update(_RECORDS["Flow"], work, SYSTEM, found, values, whole=False)
        await work.db.run(_unbind_flow, flow=found)
        await _bind(work, slug, found)
    for name in STAGES:
        await _restore_stage(work, name)
    await _link(work, list(FLOWS))


async def _restore_stage(work: Work, name: str) -> None:
    stage = await work.db.one(_stage_named, name=name)
    record, values = STAGES[name]
    found: str | None = stage
    if record == "PromptStage":
        found = await work.db.one(_prompt_stage, stage=stage)
    if found is not None:
        await operations.update(_RECORDS[record], work, SYSTEM, found, await _resolved(work, values), whole=False)


async def _link(work: Work, slugs: list[str]) -> None:
    for name, field, slug in LINKS:
        stage = await work.db.one(_stage_named, name=name)
        flow = await work.db.one(_flow_named, slug=slug)
        if slug in slugs and stage is not None:
            await operations.update(_RECORDS[STAGES[name][0]], work, SYSTEM, stage, {field: flow}, whole=False)


async def _make_flow(work: Work, slug: str) -> None:
    values, _ = FLOWS[slug]
    flow = await operations.create(_RECORDS["Flow"], work, SYSTEM, {"slug": slug, **values})
    await _bind(work, slug, flow.pk)


async def _bind(work: Work, slug: str, flow_uuid: str) -> None:
    for place, stage in enumerate(FLOWS[slug][1]):
        body = {"flow": flow_uuid, "stage": await _stage(work, stage), "order": place * 10}
        made = await operations.create(_RECORDS["FlowStageBinding"], work, SYSTEM, body)
        if (slug, stage) in DECIDED:
            await _decide(work, DECIDED[slug, stage], made.pbm_uuid)
    target = await work.db.one(_target_of, flow=flow_uuid)
    if (slug, "") in DECIDED and target is not None:
        await _decide(work, DECIDED[slug, ""], target)


async def _decide(work: Work, name: str, target: str) -> None:
    """Bind a shipped policy to a flow, or to a stage in one."""
    policy = await work.db.one(_policy_named, name=name)
    if policy is None:
        body = {"name": name, "expression": EXPRESSION_POLICIES[name]}
        policy = (await operations.create(_RECORDS["ExpressionPolicy"], work, SYSTEM, body)).pk
    place = {"policy": policy, "target": target, "order": 0}
    await operations.create(_RECORDS["PolicyBinding"], work, SYSTEM, place)


async def _stage(work: Work, name: str) -> str:
    found = await work.db.one(_stage_named, name=name)
    if found is not None:
        return found
    record, values = STAGES[name]
    made = await operations.create(_RECORDS[record], work, SYSTEM, {"name": name, **await _resolved(work, values)})
    stage_uuid: str = made.stage_uuid
    return stage_uuid


async def _resolved(work: Work, values: dict[str, Any]) -> dict[str, Any]:
    """The values of a stage, with the names of other shipped records replaced by their keys."""
    resolved = dict(values)
    if "fields" in values:
        resolved["fields"] = [await _prompt(work, one) for one in values["fields"]]
    if "validation_policies" in values:
        resolved["validation_policies"] = [await _policy(work, one) for one in values["validation_policies"]]
    if "webauthn_stage" in values:
        resolved["webauthn_stage"] = await _stage(work, values["webauthn_stage"])
    return resolved


async def _policy(work: Work, name: str) -> str:
    found = await work.db.one(_policy_named, name=name)
    if found is not None:
        return found
    made = await operations.create(_RECORDS["PasswordPolicy"], work, SYSTEM, {"name": name, **PASSWORD_POLICIES[name]})
    policy_uuid: str = made.pk
    return policy_uuid


async def _prompt(work: Work, name: str) -> str:
    found = await work.db.one(_prompt_named, name=name)
    if found is not None:
        return found
    body = {"name": name, "placeholder": PROMPTS[name]["label"], **PROMPTS[name]}
    made = await operations.create(_RECORDS["Prompt"], work, SYSTEM, body)
    prompt_uuid: str = made.pk
    return prompt_uuid


_unbind_flow = command(
    delete(policy_places.bindings).where(
        policy_places.bindings.c.target.in_(
            select(flows.flows.c.pbm_uuid).where(flows.flows.c.flow_uuid == bindparam("flow", type_=UID()))
        )
    )
)
