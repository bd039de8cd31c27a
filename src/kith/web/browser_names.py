"""The name of a browser and its system, from the User-Agent header."""

from __future__ import annotations

from kith.web.translation import Translator

# In this order: most browsers also name those they descend from.
_PROGRAMS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("Chrome", "Chrome"),
    ("CriOS", "Chrome"),
    ("Safari", "Safari"),
    ("curl", "curl"),
    ("python-httpx", "Python"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def browser_name(translate: Translator, agent: str) -> str:
    program = next((name for mark, name in _PROGRAMS if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    if program and system:
        return translate("{program} on {system}", program=program, system=system)
    return program or system or translate("Unknown browser")
