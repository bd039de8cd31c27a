"""Add and Remove: what people elsewhere show first on their profiles."""

from __future__ import annotations

from kith.base.work import Work
from kith.federation.known import Known
from kith.federation.people import store as people
from kith.federation.vocabulary.incoming.activities.shapes import IncomingAdd, IncomingRemove
from kith.federation.vocabulary.incoming.ids import same_domain
from kith.federation.vocabulary.incoming.tags import IncomingHashtag
from kith.social.accounts.tables import Account
from kith.social.featured import store as featured
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import PRIVATE
from kith.social.tags import store as tags
from kith.social.tags.tables import FeaturedTag
from kith.social.text.parts import is_tag, normal_tag

__all__ = ["apply_add", "apply_remove", "feature_tag", "pin"]

MOST_PINS = 50
MOST_TAGS = 100
MOST_COUNTED = 1000  # posts with one: its author may put it there and take it back for ever


async def apply_add(work: Work, known: Known, sender: Account, activity: IncomingAdd) -> None:
    if not await _is_own_list(work, sender, activity.target):
        return
    if activity.hashtag is not None:
        await feature_tag(work, sender, activity.hashtag)
    elif activity.object_id is not None and not sender.is_gone:
        await pin(work, known, sender, activity.object_id)


async def apply_remove(work: Work, _known: Known, sender: Account, activity: IncomingRemove) -> None:
    if not await _is_own_list(work, sender, activity.target):
        return
    if activity.hashtag is not None:
        await _unfeature_tag(work, sender, activity.hashtag)
    elif activity.object_id is not None:
        status = await statuses.find_by_uri(work.db, activity.object_id)
        if status is not None:
            await statuses.unmark(work.db, "pins", sender.id, status.id)


async def _is_own_list(work: Work, sender: Account, target: str) -> bool:
    actor = await people.find_actor(work.db, sender.id)
    return actor is not None and target in (actor.featured, actor.featured_tags)


async def pin(work: Work, known: Known, author: Account, uri: str) -> None:
    """Only one's own posts are pinned, so that nothing of other servers is asked for."""
    if not same_domain(uri, author.uri):
        return
    status = await known.status(work, uri)
    if status is None or status.account_id != author.id or status.deleted_at is not None:
        return
    if status.visibility > PRIVATE or status.reblog_of_id is not None:
        return
    if len(await statuses.pinned_by(work.db, author.id)) >= MOST_PINS:
        return
    await statuses.mark(work.db, "pins", author.id, status.id, id=work.new_id(), now=work.now)


async def feature_tag(work: Work, author: Account, hashtag: IncomingHashtag) -> None:
    if not is_tag(hashtag.name):
        return
    name = normal_tag(hashtag.name)
    await work.db.begin()
    tag = (await tags.note(work.db, {name: hashtag.name}, ids=[work.new_id()], now=work.now))[name]
    if await featured.of_tag(work.db, author.id, tag.id) is not None:
        return
    if len(await tags.features_of(work.db, author.id)) >= MOST_TAGS:
        return
    count, last = await featured.uses(work.db, author.id, tag.id, most=MOST_COUNTED)
    await tags.feature(
        work.db,
        FeaturedTag(
            id=work.new_id(),
            account_id=author.id,
            tag_id=tag.id,
            display=hashtag.name,
            statuses_count=count,
            last_status_at=last,
            created_at=work.now,
        ),
    )


async def _unfeature_tag(work: Work, author: Account, hashtag: IncomingHashtag) -> None:
    name = normal_tag(hashtag.name)
    tag = (await tags.find_named(work.db, [name])).get(name)
    found = None if tag is None else await featured.of_tag(work.db, author.id, tag.id)
    if found is not None:
        await tags.unfeature(work.db, author.id, found.id)
