"""What a block, a mute and a block of a domain hide, and who follows whom: each rule once, as a clause.

Every rule takes the viewer as an argument. It may be a bind parameter, where somebody reads, or a column, where one
statement decides for many people at once, as when a post is put into the feeds of its author's followers. `ME` is the
viewer of a read, bound as `me`. `now` is bound for mutes that end.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    Table,
    and_,
    bindparam,
    literal_column,
    or_,
    select,
    true,
)

from kith.base.db import Instant, alias_of, any_row
from kith.social.relationships import tables
from kith.social.remote_servers import has_port, is_port_of

Clause = ColumnElement[bool]
Id = ColumnElement[Any]
ME: BindParameter[Any] = bindparam("me")
_now = bindparam("now", type_=Instant())


def lasts(mute: FromClause) -> Clause:
    return or_(mute.c.expires_at.is_(None), mute.c.expires_at > _now)


def _has(table: Table, sides: dict[str, Id], *, more: Any = None) -> Clause:
    """A row with these values.

    Where one of them is the same for the whole statement, it is first asked, once, whether there is any row with it:
    most people block and mute nobody.
    """
    own = alias_of(table)
    clauses = [own.c[name] == value for name, value in sides.items()]
    found = any_row(own, and_(*clauses, *([] if more is None else [more(own)])))
    fixed = next((name for name, value in sides.items() if isinstance(value, BindParameter)), None)
    if fixed is None:
        return found
    any_own = alias_of(table)
    return and_(any_row(any_own, any_own.c[fixed] == sides[fixed]), found)


# What there is between two


def follows(viewer: Id, account_id: Id) -> Clause:
    own = alias_of(tables.follows)
    return any_row(own, and_(own.c.account_id == viewer, own.c.target_id == account_id))


def follows_since(viewer: Id, account_id: Id) -> ColumnElement[Any]:
    """The moment at which the viewer began to; NULL where they do not."""
    own = alias_of(tables.follows)
    began = select(own.c.created_at).where(and_(own.c.account_id == viewer, own.c.target_id == account_id))
    return began.correlate_except(own).scalar_subquery()


def has_asked(viewer: Id, account_id: Id) -> Clause:
    """Whether the viewer wants to follow them and waits for an answer."""
    own = alias_of(tables.follow_requests)
    return any_row(own, and_(own.c.account_id == viewer, own.c.target_id == account_id))


def blocks(viewer: Id, account_id: Id) -> Clause:
    return _has(tables.blocks, {"account_id": viewer, "target_id": account_id})


def mutes(viewer: Id, account_id: Id) -> Clause:
    return _has(tables.mutes, {"account_id": viewer, "target_id": account_id}, more=lasts)


def blocks_domain(viewer: Id, domain: Id) -> Clause:
    """The local domain, which is empty, is never blocked; a name is blocked with all of its ports."""
    own = alias_of(tables.domain_blocks)
    by_name = any_row(own, and_(own.c.account_id == viewer, is_port_of(domain, own.c.domain)))
    return and_(
        domain != literal_column("''"),
        or_(
            _has(tables.domain_blocks, {"account_id": viewer, "domain": domain}),
            and_(has_port(domain), by_name),
        ),
    )


def is_observed(account_id: Id) -> Clause:
    """Whether anybody wants to be told of each post of the account."""
    own = alias_of(tables.follows)
    return any_row(own, and_(own.c.target_id == account_id, own.c.notify))


# What is hidden


def is_hidden_from_anyone(author: FromClause) -> Clause:
    """Whether there is anybody at all from whom `hides_author` hides the account: of most there is nobody."""
    blocks, mutes, domains = alias_of(tables.blocks), alias_of(tables.mutes), alias_of(tables.domain_blocks)
    names = alias_of(tables.domain_blocks)
    return or_(
        any_row(blocks, blocks.c.target_id == author.c.id),
        any_row(blocks, blocks.c.account_id == author.c.id),
        any_row(mutes, mutes.c.target_id == author.c.id),
        and_(author.c.domain != literal_column("''"), any_row(domains, domains.c.domain == author.c.domain)),
        and_(has_port(author.c.domain), any_row(names, is_port_of(author.c.domain, names.c.domain))),
    )


def hides_mention(viewer: Id, account_id: Id) -> Clause:
    """Posts that mention somebody whom the viewer blocks or mutes stay out of the viewer's feeds."""
    return or_(blocks(viewer, account_id), mutes(viewer, account_id))


def hides_account(viewer: Id, account_id: Id) -> Clause:
    """Blocked either way, or muted: left out of lists of people, unless the list is one's own, and out of feeds."""
    return or_(blocks(viewer, account_id), blocks(account_id, viewer), mutes(viewer, account_id))


def hides_author(viewer: Id, author: FromClause) -> Clause:
    """As an account, or by its domain: left out of every timeline, thread, search and directory."""
    return or_(hides_account(viewer, author.c.id), blocks_domain(viewer, author.c.domain))


def shows_author(viewer: Id | None, author: FromClause) -> Clause:
    """The same the other way round. `None` is an anonymous visitor, from whom nobody is hidden."""
    return true() if viewer is None else ~hides_author(viewer, author)


def hides_notices_about(viewer: Id, account_id: Id) -> Clause:
    """No notification tells of somebody who is blocked, or muted together with their notifications."""
    own_mute = _has(
        tables.mutes,
        {"account_id": viewer, "target_id": account_id},
        more=lambda mute: and_(mute.c.hide_notifications, lasts(mute)),
    )
    return or_(blocks(viewer, account_id), own_mute)


def hides_notices_from(viewer: Id, sender: FromClause) -> Clause:
    """The same of its sender; and by their domain, if the viewer blocks it and does not follow them."""
    by_domain = and_(blocks_domain(viewer, sender.c.domain), ~follows(viewer, sender.c.id))
    return or_(hides_notices_about(viewer, sender.c.id), by_domain)
