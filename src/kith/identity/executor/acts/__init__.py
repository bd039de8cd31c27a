"""Every kind of stage that can be run, by hand."""

from kith.identity.executor.acts import (
    deny,
    dummy,
    identification,
    password,
    prompt,
    user_delete,
    user_login,
    user_logout,
    user_write,
)
from kith.identity.executor.turn import Act

ACTS: dict[str, Act] = {
    page.ACT.kind: page.ACT
    for page in (
        deny,
        dummy,
        identification,
        password,
        prompt,
        user_delete,
        user_login,
        user_logout,
        user_write,
    )
}
