"""/settings: what people see and change about their own account."""

from kith.web.settings import (
    access_requests,
    factors,
    impersonation,
    language,
    lockdown,
    moving,
    security,
    sources,
    tokens,
)

routes = [
    *security.routes,
    *factors.routes,
    *sources.routes,
    *tokens.routes,
    *language.routes,
    *impersonation.routes,
    *lockdown.routes,
    *moving.routes,
    *access_requests.routes,
]
