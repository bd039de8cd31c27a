"""What people have to do with each other, and what they keep for themselves."""

from __future__ import annotations

from typing import Any

from kith.cli.imports.mastodon.move import Move, RowBatch
from kith.cli.imports.mastodon.staging import Row
from kith.cli.imports.mastodon.values import at, is_true, must_at, numbers, past_id, text, words
from kith.social.conversations.tables import participants_of
from kith.social.filters.tables import ACTIONS, CONTEXTS
from kith.social.ids import AccountId

__all__ = [
    "BETWEEN",
    "ON_STATUSES",
    "take_conversation_mutes",
    "take_conversations",
    "take_domain_blocks",
    "take_featured_tags",
    "take_filter_keywords",
    "take_filter_statuses",
    "take_filters",
    "take_list_members",
    "take_lists",
    "take_markers",
    "take_marks",
    "take_notes",
    "take_pairs",
    "take_policies",
    "take_tag_follows",
]

_KEPT = "JOIN kept_accounts a ON a.id = t.account_id"
BETWEEN = f"t.* FROM {{table}} t {_KEPT} JOIN kept_accounts b ON b.id = t.target_account_id WHERE 1"
ON_STATUSES = f"t.* FROM {{table}} t {_KEPT} JOIN kept_statuses s ON s.id = t.status_id WHERE 1"
_REPLIES = ("list", "followed", "none")
_POLICIES = ("accept", "filter", "drop")
_TIMELINES = frozenset({"home", "notifications"})

# By Mastodon's table: ours, and what a row has beside the two people.
_PAIRS: dict[str, tuple[str, tuple[str, ...]]] = {
    "follows": ("social_follows", ("following", "uri")),
    "follow_requests": ("social_follow_requests", ("following", "uri")),
    "blocks": ("social_blocks", ("uri",)),
    "mutes": ("social_mutes", ("muting",)),
    "account_pins": ("social_endorsements", ()),
}
_MARKS = {"favourites": "social_favourites", "bookmarks": "social_bookmarks", "status_pins": "social_pins"}


def take_pairs(table: str) -> Any:
    ours, parts = _PAIRS[table]

    async def take(move: Move, batch: RowBatch) -> None:
        for row in batch.items:
            more: dict[str, Any] = {}
            if "following" in parts:
                more |= {
                    "reblogs": is_true(row, "show_reblogs", default=True),
                    "notify": is_true(row, "notify"),
                    "languages": words(row, "languages") or None,
                }
            if "uri" in parts:
                more["uri"] = text(row, "uri") or None
            if "muting" in parts:
                more["hide_notifications"] = is_true(row, "hide_notifications", default=True)
                more["expires_at"] = at(row, "expires_at")
            created = must_at(row, "created_at", move.started_at)
            people = {"account_id": row["account_id"], "target_id": row["target_account_id"]}
            batch.rows.add(ours, id=row["id"], **people, **more, created_at=created)
            batch.taken += 1

    return take


def take_marks(table: str) -> Any:
    async def take(move: Move, batch: RowBatch) -> None:
        for row in batch.items:
            created = must_at(row, "created_at", move.started_at)
            about = {"account_id": row["account_id"], "status_id": row["status_id"]}
            batch.rows.add(_MARKS[table], id=row["id"], **about, created_at=created)
            batch.taken += 1

    return take


async def take_notes(_move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        about = {"account_id": row["account_id"], "target_id": row["target_account_id"]}
        batch.rows.add("social_account_notes", **about, comment=text(row, "comment"))
        batch.taken += 1


async def take_domain_blocks(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.rows.add(
            "social_domain_blocks",
            id=row["id"],
            account_id=row["account_id"],
            domain=text(row, "domain").lower(),
            created_at=must_at(row, "created_at", move.started_at),
        )
        batch.taken += 1


def _list_id(move: Move, row: Row, number: str) -> int:
    """A list of ours never has the number of an account: both have feeds."""
    return past_id(must_at(row, "created_at", move.started_at), row[number])


async def take_lists(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        policy = int(row["replies_policy"] or 0)
        batch.rows.add(
            "social_lists",
            id=_list_id(move, row, "id"),
            account_id=row["account_id"],
            title=text(row, "title"),
            replies_policy=_REPLIES[policy] if policy < len(_REPLIES) else "list",
            exclusive=is_true(row, "exclusive"),
            created_at=must_at(row, "created_at", move.started_at),
        )
        batch.taken += 1


async def take_list_members(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        list_id = _list_id(move, row, "list_id")
        batch.rows.add("social_list_members", id=row["id"], list_id=list_id, account_id=row["account_id"])
        batch.taken += 1


async def take_filters(_move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        contexts = [one for one in words(row, "context") if one in CONTEXTS]
        action = int(row["action"] or 0)
        if not contexts:
            batch.leave(text(row, "phrase"), "it filters nowhere")
            continue
        batch.rows.add(
            "social_filters",
            id=row["id"],
            account_id=row["account_id"],
            title=text(row, "phrase"),
            context=" ".join(contexts),
            action=ACTIONS[action] if action < len(ACTIONS) else "warn",
            expires_at=at(row, "expires_at"),
        )
        batch.rows.add("social_filter_versions", account_id=row["account_id"], version=1)
        batch.taken += 1


async def take_filter_keywords(_move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.rows.add(
            "social_filter_keywords",
            id=row["id"],
            filter_id=row["custom_filter_id"],
            keyword=text(row, "keyword"),
            whole_word=is_true(row, "whole_word", default=True),
        )
        batch.taken += 1


async def take_filter_statuses(_move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        about = {"filter_id": row["custom_filter_id"], "status_id": row["status_id"]}
        batch.rows.add("social_filter_statuses", id=row["id"], **about)
        batch.taken += 1


async def take_tag_follows(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        about = {"account_id": row["account_id"], "tag_id": row["tag_id"]}
        batch.rows.add(
            "social_tag_follows", id=row["id"], **about, created_at=must_at(row, "created_at", move.started_at)
        )
        batch.taken += 1


async def take_featured_tags(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.rows.add(
            "social_featured_tags",
            id=row["id"],
            account_id=row["account_id"],
            tag_id=row["tag_id"],
            display=text(row, "name") or text(row, "tag_name"),
            statuses_count=row["statuses_count"] or 0,
            last_status_at=at(row, "last_status_at"),
            created_at=must_at(row, "created_at", move.started_at),
        )
        batch.taken += 1


async def take_conversation_mutes(_move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        about = {"account_id": row["account_id"], "conversation_id": row["conversation_id"]}
        batch.rows.add("social_conversation_mutes", **about)
        batch.taken += 1


async def take_conversations(move: Move, batch: RowBatch) -> None:
    """Direct messages, as each of their readers sees them."""
    ids = {id for row in batch.items for id in numbers(row, "status_ids")}
    kept = {row[0] for id in ids for row in move.staging.all("SELECT id FROM kept_statuses WHERE id = ?", id)}
    for row in batch.items:
        others = {AccountId(id) for id in numbers(row, "participant_account_ids")}
        statuses = [id for id in numbers(row, "status_ids") if id in kept]
        if not statuses:
            batch.leave(row["id"], "none of its posts are there any more")
            continue
        batch.rows.add(
            "social_conversations",
            id=row["id"],
            account_id=row["account_id"],
            thread_id=row["conversation_id"],
            participants=participants_of(others),
            last_status_id=max(statuses),
            unread=is_true(row, "unread"),
        )
        for id in dict.fromkeys(statuses):
            batch.rows.add("social_conversation_statuses", conversation_id=row["id"], status_id=id)
        batch.taken += 1


async def take_markers(move: Move, batch: RowBatch) -> None:
    """How far somebody has read; notifications do not come along, so where they were is not told."""
    for row in batch.items:
        if row["timeline"] != "home":
            if row["timeline"] not in _TIMELINES:
                batch.leave(row["id"], "there is no such timeline here")
            continue
        batch.rows.add(
            "social_markers",
            account_id=row["account_id"],
            timeline="home",
            last_read_id=row["last_read_id"] or 0,
            version=int(row["lock_version"] or 0),
            updated_at=must_at(row, "updated_at", move.started_at),
        )
        batch.taken += 1


async def take_policies(_move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        chosen = {
            name: _POLICIES[int(row[name])] if row[name] in ("0", "1", "2") else default
            for name, default in (
                ("for_not_following", "accept"), ("for_not_followers", "accept"), ("for_new_accounts", "accept"),
                ("for_private_mentions", "filter"), ("for_limited_accounts", "filter"),
            )
        }  # fmt: skip
        batch.rows.add("social_notification_policies", account_id=row["account_id"], **chosen, for_bots="accept")
        batch.taken += 1
