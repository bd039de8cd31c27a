"""The steps of a move, in their order: nothing comes before what it points to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kith.cli.imports.mastodon import community, media, people, posts, relations, sign_in
from kith.cli.imports.mastodon.move import Move, RowBatch, step
from kith.cli.imports.mastodon.staging import Row
from kith.cli.imports.mastodon.values import text
from kith.cli.imports.running import RunStep
from kith.social.accounts.facts import AccountChanged
from kith.social.ids import AccountId, StatusId
from kith.social.search.tasks import learn_changed, learn_posted
from kith.social.statuses.facts import StatusPosted

__all__ = ["steps"]

_KEPT = "JOIN kept_accounts k ON k.id = t.account_id"
_OF_STATUS = "JOIN kept_statuses s ON s.id = t.status_id"
_LOCAL = "JOIN local_accounts l ON l.id = t.account_id"
_FILTERS = "JOIN custom_filters f ON f.id = t.custom_filter_id JOIN kept_accounts k ON k.id = f.account_id"
_ALL = "t.* FROM {table} t WHERE 1"


class _Steps:
    """Makes steps of one move."""

    def __init__(self, move: Move) -> None:
        self._move = move

    def one(self, name: str, rows: str, take: Any, *, at_once: int = 500) -> RunStep[Row]:
        return step(self._move, name, rows, take, at_once=at_once)

    def of(self, table: str, take: Any) -> RunStep[Row]:
        return self.one(table, _ALL.format(table=table), take)


def steps(move: Move) -> Iterator[RunStep[Row]]:
    """Made one after the other: what one decides the next may ask for."""
    made = _Steps(move)
    yield from _of_community(made.one, made.of)
    yield from _of_people(made.one)
    yield from _of_posts(made.one)
    yield from _of_relations(made.one)
    yield from _of_decisions(made.one, made.of)
    if move.media is not None:
        yield from _of_files(made.one)
    yield made.one("words_of_people", "t.id FROM kept_accounts t WHERE 1", _learn_people)
    yield made.one(
        "words_of_posts", "t.id FROM our_statuses t JOIN kept_statuses k ON k.id = t.id WHERE 1", _learn_posts
    )


def _of_community(one: Any, of: Any) -> Iterator[RunStep[Row]]:
    yield one("unusable", "t.* FROM unusable t WHERE 1", _take_unusable)
    yield of("domain_blocks", community.take_server_blocks)
    yield of("domain_allows", community.take_allows)
    yield of("email_domain_blocks", community.take_email_blocks)
    yield of("ip_blocks", community.take_ip_blocks)
    yield of("canonical_email_blocks", community.take_canonical_blocks)
    yield of("rules", community.take_rules)
    yield of("announcements", community.take_announcements)
    yield of("account_warning_presets", community.take_presets)
    yield of("settings", community.take_settings)
    yield one(
        "custom_emojis",
        "t.*, c.name AS category FROM custom_emojis t LEFT JOIN custom_emoji_categories c ON c.id = t.category_id"
        " WHERE 1",
        community.take_emojis,
    )
    yield of("relays", community.take_relays)
    yield of("oauth_applications", sign_in.take_apps)


def _of_people(one: Any) -> Iterator[RunStep[Row]]:
    yield one("server_key", people.SERVER, people.take_server)
    yield one("accounts", people.LOCAL, people.take_local, at_once=200)
    yield one("remote_accounts", people.REMOTE, people.take_remote)
    yield one(
        "moved_accounts",
        "t.id, t.moved_to_account_id FROM accounts t JOIN kept_accounts k ON k.id = t.id"
        " JOIN kept_accounts m ON m.id = t.moved_to_account_id WHERE 1",
        people.take_moves,
    )
    yield one("account_counts", f"t.* FROM account_stats t {_KEPT} WHERE 1", people.take_counts)


def _of_posts(one: Any) -> Iterator[RunStep[Row]]:
    yield one("tags", "t.* FROM tags t JOIN kept_tags k ON k.id = t.id WHERE 1", posts.take_tags)
    yield one("statuses", posts.POSTS, posts.take_posts)
    yield one("boosts", posts.BOOSTS, posts.take_boosts)
    yield one("status_counts", f"t.* FROM status_stats t {_OF_STATUS} WHERE 1", posts.take_stats)
    yield one("media_attachments", f"t.* FROM media_attachments t {_KEPT} {_OF_STATUS} WHERE 1", media.take_media)
    yield one("polls", f"t.* FROM polls t {_KEPT} {_OF_STATUS} WHERE 1", posts.take_polls)
    yield one(
        "poll_votes",
        f"t.* FROM poll_votes t {_KEPT} JOIN polls p ON p.id = t.poll_id JOIN kept_statuses s ON s.id = p.status_id"
        " JOIN kept_accounts b ON b.id = p.account_id WHERE 1",
        posts.take_votes,
    )
    yield one(
        "status_edits",
        f"t.*, a.domain FROM status_edits t {_OF_STATUS} JOIN statuses p ON p.id = t.status_id"
        " JOIN accounts a ON a.id = p.account_id WHERE 1",
        posts.take_edits,
    )


def _of_relations(one: Any) -> Iterator[RunStep[Row]]:
    for table in ("favourites", "bookmarks", "status_pins"):
        yield one(table, relations.ON_STATUSES.format(table=table), relations.take_marks(table))
    for table in ("follows", "follow_requests", "blocks", "mutes", "account_pins"):
        yield one(table, relations.BETWEEN.format(table=table), relations.take_pairs(table))
    yield one("account_notes", relations.BETWEEN.format(table="account_notes"), relations.take_notes)
    yield one(
        "account_domain_blocks", f"t.* FROM account_domain_blocks t {_KEPT} WHERE 1", relations.take_domain_blocks
    )
    yield one("lists", f"t.* FROM lists t {_KEPT} WHERE 1", relations.take_lists)
    yield one(
        "list_accounts",
        f"t.*, l.created_at FROM list_accounts t {_KEPT} JOIN lists l ON l.id = t.list_id"
        " JOIN kept_accounts o ON o.id = l.account_id WHERE 1",
        relations.take_list_members,
    )
    yield one("custom_filters", f"t.* FROM custom_filters t {_KEPT} WHERE 1", relations.take_filters)
    fit = "WHERE f.context <> '{}'"
    yield one(
        "custom_filter_keywords", f"t.* FROM custom_filter_keywords t {_FILTERS} {fit}", relations.take_filter_keywords
    )
    yield one(
        "custom_filter_statuses",
        f"t.* FROM custom_filter_statuses t {_FILTERS} {_OF_STATUS} {fit}",
        relations.take_filter_statuses,
    )
    tagged = f"{_LOCAL} JOIN kept_tags g ON g.id = t.tag_id JOIN tags n ON n.id = t.tag_id"
    yield one("tag_follows", f"t.* FROM tag_follows t {tagged} WHERE 1", relations.take_tag_follows)
    yield one(
        "featured_tags", f"t.*, n.name AS tag_name FROM featured_tags t {tagged} WHERE 1", relations.take_featured_tags
    )
    yield one("conversation_mutes", f"t.* FROM conversation_mutes t {_KEPT} WHERE 1", relations.take_conversation_mutes)
    yield one("conversations", f"t.* FROM account_conversations t {_KEPT} WHERE 1", relations.take_conversations)
    yield one(
        "markers", "t.*, u.account_id FROM markers t JOIN users u ON u.id = t.user_id"
        " JOIN kept_accounts k ON k.id = u.account_id WHERE 1", relations.take_markers,
    )  # fmt: skip
    yield one("notification_policies", f"t.* FROM notification_policies t {_KEPT} WHERE 1", relations.take_policies)


def _of_decisions(one: Any, of: Any) -> Iterator[RunStep[Row]]:
    yield one("reports", relations.BETWEEN.format(table="reports"), community.take_reports)
    yield one("report_notes", community.NOTES, community.take_notes)
    yield one("account_warnings", community.WARNINGS, community.take_warnings)
    yield one("oauth_access_tokens", sign_in.TOKENS, sign_in.take_tokens)
    yield one("authenticator_apps", sign_in.TOTP, sign_in.take_totp)
    yield one(
        "passkeys",
        "t.*, u.account_id FROM webauthn_credentials t JOIN users u ON u.id = t.user_id WHERE 1",
        sign_in.take_passkeys,
    )
    yield of("scheduled_statuses", _leave_scheduled)


def _of_files(one: Any) -> Iterator[RunStep[Row]]:
    few = 50
    local = "t.* FROM accounts t JOIN kept_accounts k ON k.id = t.id WHERE t.domain IS NULL"
    yield one("profile_pictures", local, media.take_pictures, at_once=few)
    yield one("emoji_files", "t.* FROM custom_emojis t WHERE t.domain IS NULL", media.take_emoji_files, at_once=few)
    attached = f"t.* FROM media_attachments t {_LOCAL} {_OF_STATUS} WHERE t.file_file_name IS NOT NULL"
    yield one("media_files", attached, media.take_media_files, at_once=few)


async def _take_unusable(_move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.leave(row["name"], row["reason"], step=row["step"])


async def _leave_scheduled(_move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.leave(f"{row['id']} for {text(row, 'scheduled_at')}", "what was planned for later is planned anew")


async def _learn_people(_move: Move, batch: RowBatch) -> None:
    """For search."""
    for row in batch.items:
        await learn_changed(batch.work, AccountChanged(account_id=AccountId(row["id"])))
        batch.taken += 1


async def _learn_posts(_move: Move, batch: RowBatch) -> None:
    facts = [StatusPosted(status_id=StatusId(row["id"]), account_id=AccountId(0)) for row in batch.items]
    await learn_posted(batch.work, facts)
    batch.taken += len(facts)
