"""Every kind of stage, listed by hand."""

from __future__ import annotations

from typing import Any

from kith.identity.rest import Action, Resource
from kith.identity.stages import all_stages, invitations, prompts, source_connection
from kith.identity.stages.kinds import (
    captcha,
    consent,
    deny,
    dummy,
    email,
    identification,
    invitation,
    otp,
    otp_static,
    otp_time,
    otp_validate,
    password,
    prompt,
    user_delete,
    user_login,
    user_logout,
    user_write,
    webauthn,
)
from kith.identity.stages.turn import StageKind

RESOURCES: tuple[Resource[Any], ...] = (
    all_stages.RESOURCE,
    captcha.RESOURCE,
    consent.RESOURCE,
    deny.RESOURCE,
    dummy.RESOURCE,
    email.RESOURCE,
    identification.RESOURCE,
    invitation.RESOURCE,
    invitations.RESOURCE,
    otp.RESOURCE,
    otp_static.RESOURCE,
    otp_time.RESOURCE,
    otp_validate.RESOURCE,
    password.RESOURCE,
    prompt.RESOURCE,
    prompts.RESOURCE,
    user_delete.RESOURCE,
    user_login.RESOURCE,
    user_logout.RESOURCE,
    user_write.RESOURCE,
    webauthn.RESOURCE,
)
ACTIONS: tuple[Action, ...] = (email.LIST_TEMPLATES,)

_KINDS = (
    captcha, consent, deny, dummy, email, identification, invitation, otp, otp_static, otp_time, otp_validate, password,
    prompt, user_delete, user_login, user_logout, user_write, webauthn,
)  # fmt: skip
KINDS: dict[str, StageKind[Any]] = {page.STAGE.kind: page.STAGE for page in (*_KINDS, source_connection)}
