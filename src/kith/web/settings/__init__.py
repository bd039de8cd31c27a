"""/settings: what people see and change about their own account."""

from kith.web.settings import factors, impersonation, language, moving, security, tokens

routes = [*security.routes, *factors.routes, *tokens.routes, *language.routes, *impersonation.routes, *moving.routes]
