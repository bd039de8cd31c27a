"""Moments as other servers read them: seconds, in UTC."""

from __future__ import annotations

from datetime import datetime

from kith.social.moments import second

__all__ = ["lasting", "midnight", "second"]


def midnight(at: datetime) -> str:
    """The day alone: when exactly somebody came is nobody's business."""
    return f"{at:%Y-%m-%d}T00:00:00Z"


def lasting(seconds: float) -> str:
    """An ISO 8601 duration."""
    return f"PT{round(seconds, 3):g}S"
