from __future__ import annotations

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.social.ids import AccountId
from kith.social.tags import store
from kith.social.tags.facts import TagUnfollowed
from kith.social.tags.tables import Tag
from kith.social.text.parts import is_tag, normal_tag, written_tag

MOST_FOLLOWED = 2000


def plain_name(given: str) -> str:
    """As somebody wrote it, without signs around it; what can be no tag is not there."""
    name = written_tag(given)
    if not is_tag(name):
        raise NotFound
    return name


async def find(work: Work, given: str) -> Tag:
    """A tag, or what it would be if anybody had used it: it has no id then."""
    name = plain_name(given)
    normal = normal_tag(name)
    found = (await store.find_named(work.db, [normal])).get(normal)
    return found or _unused(work, name)


async def find_open(work: Work, given: str, me: AccountId | None) -> Tag:
    """A tag as the viewer may know it: what no post for everybody has used is unused, but for its followers."""
    tag = await find(work, given)
    if tag.last_status_at is not None or tag.reviewed_at is not None or not tag.id:
        return tag
    is_followed = me is not None and await store.followed_by(work.db, me, [tag.id])
    return tag if is_followed else _unused(work, plain_name(given))


def _unused(work: Work, name: str) -> Tag:
    return Tag(
        id=0,
        name=normal_tag(name),
        display=name,
        usable=True,
        listable=True,
        trendable=None,
        last_status_at=None,
        created_at=work.now,
    )


async def note(work: Work, given: str) -> Tag:
    """A tag, made if it is new."""
    name = plain_name(given)
    normal = normal_tag(name)
    return (await store.note(work.db, {normal: name}, ids=[work.new_id()], now=work.now))[normal]


async def follow(work: Work, me: AccountId, given: str) -> Tag:
    tag = await note(work, given)
    await store.follow(work.db, me, tag.id, id=work.new_id(), now=work.now)
    if await store.count_followed(work.db, me, MOST_FOLLOWED + 1) > MOST_FOLLOWED:
        raise Invalid(fields={"": [Complaint(f"You cannot follow more than {MOST_FOLLOWED} hashtags", "too_many")]})
    return tag


async def unfollow(work: Work, me: AccountId, given: str) -> Tag:
    tag = await find(work, given)
    if tag.id and await store.unfollow(work.db, me, tag.id):
        work.announce(TagUnfollowed(tag_id=tag.id, account_id=me))
    return tag
