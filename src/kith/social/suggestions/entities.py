from __future__ import annotations

from kith.social.suggestions.reading import FEATURED, FRIEND, GLOBAL, INTERACTION, SuggestionRow

# Each reason as version 2 tells it, and as the older `source` does. Of one's own acts clients know no word but the old.
_SOURCES = (
    (INTERACTION, "similar_to_recently_followed", "past_interactions"),
    (FEATURED, "featured", "staff"),
    (FRIEND, "friends_of_friends", "past_interactions"),
    (GLOBAL, "most_followed", "global"),
)


def render_suggestion(row: SuggestionRow, account: bytes) -> bytes:
    """The first reason weighs most."""
    reasons = [(new, old) for bit, new, old in _SOURCES if row.sources & bit]
    names = ",".join(f'"{new}"' for new, _ in reasons)
    return b'{"source":"%b","sources":[%b],"account":%b}' % (reasons[0][1].encode(), names.encode(), account)
