"""Identity's room: the API, the flows and their jobs."""

from __future__ import annotations

from datetime import timedelta

from kith.base.caches import UntilWritten
from kith.base.jobs import Periodic
from kith.base.keys import Keys
from kith.base.limits import Limiter
from kith.base.rooms import Part, Room
from kith.base.routing import for_entering
from kith.base.sealing import Sealer
from kith.base.work import Works
from kith.identity import tasks
from kith.identity.authority.guard import PowerGuard
from kith.identity.caller_authentication import CallerAuthenticator
from kith.identity.collections import ACTIONS, RESOURCES
from kith.identity.errors import DIALECT
from kith.identity.executor import api as executor
from kith.identity.expressions.run import Expressions
from kith.identity.ldap_server.doubled_names import DoubledNames
from kith.identity.locations.address_facts import AddressFacts
from kith.identity.locations.service import Locations
from kith.identity.lockdown import service as lockdown
from kith.identity.policies.policies_by_name import PoliciesByName
from kith.identity.policies.policy_caller import PolicyCaller
from kith.identity.program_sign_in import ProgramLogins
from kith.identity.registration.signup_request import EmailHostNames
from kith.identity.rest import api as rest
from kith.identity.rest.caller_lookup import CallerLookup
from kith.identity.rest.write_guard import WriteGuard
from kith.identity.stages.kinds import email
from kith.identity.stages.password_rules import FormPasswordRules
from kith.identity.users.password_rules import PasswordRules
from kith.identity.users.passwords import Passwords


def _callers(works: Works) -> CallerAuthenticator:
    return CallerAuthenticator(works.services[Passwords], works.services[Limiter], works.services[UntilWritten])


ROOM = Room(
    name="identity",
    dialect=DIALECT,
    routes=(*rest.routes(RESOURCES, ACTIONS), *for_entering(executor.routes)),
    jobs=(tasks.SWEEP, email.SEND, lockdown.END_AGAIN),
    periodic=(Periodic(kind=tasks.SWEEP, every=timedelta(hours=1), payload=tasks.IdentitySweep()),),
    parts=(
        Part(EmailHostNames, lambda _: EmailHostNames(seconds=5.0)),
        Part(Passwords, lambda _: Passwords(), close=Passwords.close),
        Part(Expressions, lambda _: Expressions(), close=Expressions.close),
        Part(Locations, lambda works: Locations(works.settings), close=Locations.close, also=(AddressFacts,)),
        Part(PolicyCaller, lambda _: PoliciesByName()),
        Part(PasswordRules, lambda _: FormPasswordRules()),
        Part(Sealer, lambda works: Sealer(works.services[Keys].encryption)),
        Part(CallerAuthenticator, _callers, also=(CallerLookup,)),
        Part(PowerGuard, lambda _: PowerGuard(RESOURCES), also=(WriteGuard,)),
        Part(ProgramLogins, lambda _: ProgramLogins()),
        Part(DoubledNames, lambda _: DoubledNames()),
    ),
)
