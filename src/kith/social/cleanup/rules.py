"""Which old posts stay, whatever their age."""

from __future__ import annotations

from kith.social.cleanup.tables import CleanupPolicy, OldPost
from kith.social.statuses.tables import DIRECT


def stays(post: OldPost, policy: CleanupPolicy) -> bool:
    """A boost has neither media nor marks of its own, so that only its age counts."""
    return (
        (policy.keep_direct and post.visibility == DIRECT)
        or (policy.keep_pinned and post.is_pinned)
        or (policy.keep_polls and post.has_poll)
        or (policy.keep_media and bool(post.media_ids))
        or (policy.keep_self_fav and post.is_favourited)
        or (policy.keep_self_bookmark and post.is_bookmarked)
        or _reaches(post.favourites_count, policy.min_favs)
        or _reaches(post.reblogs_count, policy.min_reblogs)
    )


def _reaches(count: int, least: int | None) -> bool:
    return least is not None and count >= least
