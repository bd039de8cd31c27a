"""Languages posts are written in."""

from kith.social.text.languages import NAMES, is_language

__all__ = ["NAMES", "is_language"]
