"""The browser and the system that a User-Agent header tells of."""

from __future__ import annotations

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


def program_of(agent: str) -> str:
    return next((name for mark, name in _PROGRAMS if mark in agent), "")


def system_of(agent: str) -> str:
    return next((name for mark, name in _SYSTEMS if mark in agent), "")
