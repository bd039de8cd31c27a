"""Every kind of stage that can be run, by hand."""

from kith.identity.executor.acts import (
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
from kith.identity.stages.turn import Act

ACTS: dict[str, Act] = {
    page.ACT.kind: page.ACT
    for page in (
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
}
