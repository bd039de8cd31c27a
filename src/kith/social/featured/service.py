"""Tags that somebody puts on their profile."""

from __future__ import annotations

from datetime import timedelta

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.ids import id_at
from kith.base.work import Work
from kith.social.featured import store
from kith.social.ids import AccountId
from kith.social.tags import service as tags
from kith.social.tags import store as tag_store
from kith.social.tags.facts import TagFeatured
from kith.social.tags.tables import FeaturedTag, Tag

MOST = 10
SUGGESTED = 10
LOOKED_AT = 1000
LOOKED_BACK = timedelta(days=365)
LEAST_USES = 2


async def feature(work: Work, me: AccountId, name: str, *, most_counted: int | None = None) -> FeaturedTag:
    """What is featured already stays as it is. `most_counted`: of the posts with it."""
    try:
        written = tags.plain_name(name)
    except NotFound as error:
        raise Invalid(fields={"tag": [Complaint("is invalid")]}) from error
    await work.db.hold(f"featured_tags:{me}")
    tag = await tags.note(work, written)
    found = await store.of_tag(work.db, me, tag.id)
    if found is not None:
        return found
    if len(await tag_store.features_of(work.db, me)) >= MOST:
        words = "You have already featured the maximum number of hashtags"
        raise Invalid(fields={"": [Complaint(words, "too_many")]})
    count, last = await store.uses(work.db, me, tag.id, most=most_counted)
    featured = FeaturedTag(
        id=work.new_id(),
        account_id=me,
        tag_id=tag.id,
        display=written,
        statuses_count=count,
        last_status_at=last,
        created_at=work.now,
    )
    await tag_store.feature(work.db, featured)
    work.announce(TagFeatured(tag_id=tag.id, account_id=me, featured=True, name=written))
    return featured


async def unfeature(work: Work, me: AccountId, id: int) -> None:
    found = await store.find(work.db, me, id)
    if found is None:
        raise NotFound
    await _drop(work, found)


async def unfeature_named(work: Work, me: AccountId, name: str) -> Tag:
    tag = await tags.find(work, name)
    found = await store.of_tag(work.db, me, tag.id)
    if found is not None:
        await _drop(work, found)
    return tag


async def _drop(work: Work, featured: FeaturedTag) -> None:
    if await tag_store.unfeature(work.db, featured.account_id, featured.id):
        work.announce(TagFeatured(featured.tag_id, featured.account_id, featured=False, name=featured.display))


async def suggestions(work: Work, me: AccountId) -> list[Tag]:
    since = id_at(work.now - LOOKED_BACK)
    ids = await store.liked(work.db, me, since=since, posts=LOOKED_AT, least=LEAST_USES, most=SUGGESTED)
    known = await tag_store.find_all(work.db, ids)
    return [known[id] for id in ids if id in known and known[id].listable]
