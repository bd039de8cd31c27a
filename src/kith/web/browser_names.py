"""The name of a browser and its system, from the User-Agent header."""

from __future__ import annotations

from kith.identity.for_pages import user_agents
from kith.web.translation import Translator


def browser_name(translate: Translator, agent: str) -> str:
    program, system = user_agents.program_of(agent), user_agents.system_of(agent)
    if program and system:
        return translate("{program} on {system}", program=program, system=system)
    return program or system or translate("Unknown browser")
