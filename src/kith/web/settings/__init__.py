"""/settings: what people see and change about their own account."""

from kith.web.settings import eyes, factors, keys, language, security

routes = [*security.routes, *factors.routes, *keys.routes, *language.routes, *eyes.routes]
