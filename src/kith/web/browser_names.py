"""A browser's own words about itself, made short enough to recognise it by."""

from __future__ import annotations

from kith.web.translation import Translator

# The first that is found counts: most browsers also claim to be their forebears.
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


def device_of(translate: Translator, agent: str) -> str:
    program = next((name for mark, name in _PROGRAMS if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    if program and system:
        return translate("{program} on {system}", program=program, system=system)
    return program or system or translate("Unknown browser")
