"""Which of the accounts and posts from elsewhere come along: those that people here have to do with.

A Mastodon server knows far more of other servers than anybody here has ever looked at. What nobody follows, answered,
favourited, boosted, bookmarked or was mentioned in is found again on the day that somebody looks for it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from kith.base.db.copy_format import NotACopy, read_array
from kith.base.ids import id_at
from kith.cli.imports.mastodon.staging import Staging
from kith.social.text.parts import is_tag, normal_tag

__all__ = ["choose"]

_LOCAL = "SELECT id FROM local_accounts"
_OURS = "SELECT id FROM our_statuses"
_PAIRS = ("follows", "follow_requests", "blocks", "mutes", "account_pins", "account_notes")
_STATUSES = (
    f"SELECT in_reply_to_id FROM statuses WHERE account_id IN ({_LOCAL})",
    f"SELECT reblog_of_id FROM statuses WHERE account_id IN ({_LOCAL})",
    f"SELECT quoted_status_id FROM quotes WHERE status_id IN ({_OURS})",
    f"SELECT status_id FROM quotes WHERE quoted_status_id IN ({_OURS})",
    f"SELECT status_id FROM favourites WHERE account_id IN ({_LOCAL})",
    f"SELECT status_id FROM bookmarks WHERE account_id IN ({_LOCAL})",
    f"SELECT status_id FROM mentions WHERE account_id IN ({_LOCAL})",
    f"SELECT p.status_id FROM poll_votes v JOIN polls p ON p.id = v.poll_id WHERE v.account_id IN ({_LOCAL})",
    f"SELECT id FROM statuses WHERE in_reply_to_id IN ({_OURS})",
    f"SELECT id FROM statuses WHERE reblog_of_id IN ({_OURS})",
    "SELECT status_id FROM custom_filter_statuses",
)
_ACCOUNTS = (
    "SELECT s.account_id FROM statuses s JOIN kept_statuses k ON k.id = s.id",
    "SELECT m.account_id FROM mentions m JOIN kept_statuses k ON k.id = m.status_id",
    f"SELECT account_id FROM favourites WHERE status_id IN ({_OURS})",
    f"SELECT v.account_id FROM poll_votes v JOIN polls p ON p.id = v.poll_id WHERE p.status_id IN ({_OURS})",
    "SELECT l.account_id FROM list_accounts l",
    "SELECT account_id FROM reports",
    "SELECT target_account_id FROM reports",
    "SELECT target_account_id FROM account_warnings",
    *(f"SELECT target_account_id FROM {name} WHERE account_id IN ({_LOCAL})" for name in _PAIRS),
    *(f"SELECT account_id FROM {name} WHERE target_account_id IN ({_LOCAL})" for name in _PAIRS),
)


def choose(staging: Staging, *, everything: bool, recent_days: int, now: datetime) -> None:
    """Fill `kept_accounts`, `kept_statuses` and `kept_tags`; what a kept row points to is kept as well."""
    run = staging.run
    for name in ("local_accounts", "our_statuses", "kept_statuses", "kept_accounts"):
        run(f"DROP TABLE IF EXISTS {name}")
        run(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY)")
    run("INSERT INTO local_accounts SELECT id FROM accounts WHERE domain IS NULL AND id > 0")
    run(f"INSERT INTO our_statuses SELECT id FROM statuses WHERE account_id IN ({_LOCAL}) AND deleted_at IS NULL")
    if everything:
        run("INSERT INTO kept_statuses SELECT id FROM statuses WHERE deleted_at IS NULL")
        run("INSERT INTO kept_accounts SELECT id FROM accounts WHERE id > 0")
    else:
        _choose_statuses(staging, id_at(now - timedelta(days=recent_days)))
        run(f"INSERT OR IGNORE INTO kept_accounts {_LOCAL}")
        for statement in _ACCOUNTS:
            _keep(staging, "accounts", statement)
    _keep(
        staging,
        "accounts",
        "SELECT a.moved_to_account_id FROM accounts a JOIN kept_accounts k ON k.id = a.id",
    )
    _leave_unusable(staging)
    run("DROP TABLE IF EXISTS kept_tags")
    run("CREATE TABLE kept_tags (id INTEGER PRIMARY KEY)")
    for chosen in (
        "SELECT t.tag_id FROM statuses_tags t JOIN kept_statuses k ON k.id = t.status_id",
        f"SELECT tag_id FROM tag_follows WHERE account_id IN ({_LOCAL})",
        f"SELECT tag_id FROM featured_tags WHERE account_id IN ({_LOCAL})",
    ):
        run(f"INSERT OR IGNORE INTO kept_tags SELECT id FROM tags WHERE id IN ({chosen})")
    _leave_odd_tags(staging)


def _choose_statuses(staging: Staging, recent_id: int) -> None:
    staging.run(f"INSERT INTO kept_statuses {_OURS}")
    for statement in _STATUSES:
        _keep(staging, "statuses", statement)
    for row in staging.all("SELECT status_ids FROM reports"):
        for id in _ids(row[0]):
            _keep(staging, "statuses", f"SELECT {id}")
    followed = f"SELECT target_account_id FROM follows WHERE account_id IN ({_LOCAL})"
    _keep(staging, "statuses", f"SELECT id FROM statuses WHERE id >= {recent_id} AND account_id IN ({followed})")
    _keep(staging, "statuses", "SELECT s.reblog_of_id FROM statuses s JOIN kept_statuses k ON k.id = s.id")


def _keep(staging: Staging, kind: str, chosen: str) -> None:
    is_there = " AND deleted_at IS NULL" if kind == "statuses" else " AND id > 0"
    staging.run(f"INSERT OR IGNORE INTO kept_{kind} SELECT id FROM {kind} WHERE id IN ({chosen}){is_there}")


def _ids(array: str | None) -> list[int]:
    try:
        return [int(one) for one in read_array(array) if one is not None and one.isdigit()]
    except NotACopy:
        return []


def _leave_unusable(staging: Staging) -> None:
    """Rows that cannot be rows of ours, with the reason; and then whatever points to them."""
    staging.run("DROP TABLE IF EXISTS unusable")
    staging.run("CREATE TABLE unusable (id INTEGER PRIMARY KEY, step TEXT, name TEXT, reason TEXT)")
    add = "INSERT INTO unusable (step, name, reason)"
    kept = "JOIN kept_accounts k ON k.id = a.id"
    handle = "lower(a.username) || '@' || lower(coalesce(a.domain, ''))"
    bad_accounts = {
        "it has no address": f"SELECT a.id FROM accounts a {kept} WHERE a.domain IS NOT NULL AND a.uri = ''",
        "another account has the same name": (
            "SELECT id FROM (SELECT a.id, row_number() OVER (PARTITION BY "
            f"{handle} ORDER BY a.id) AS place FROM accounts a {kept}) WHERE place > 1"
        ),
        "another account has the same address": (
            "SELECT id FROM (SELECT a.id, row_number() OVER (PARTITION BY a.uri ORDER BY a.id) AS place"
            f" FROM accounts a {kept} WHERE a.domain IS NOT NULL) WHERE place > 1"
        ),
    }
    for reason, chosen in bad_accounts.items():
        staging.run(f"{add} SELECT 'accounts', id, '{reason}' FROM ({chosen})")
        staging.run(f"DELETE FROM kept_accounts WHERE id IN ({chosen})")
    kept = "JOIN kept_statuses k ON k.id = s.id"
    bad_statuses = {
        "its author is not known": (
            f"SELECT s.id FROM statuses s {kept} WHERE s.account_id NOT IN (SELECT id FROM kept_accounts)"
        ),
        "another post has the same address": (
            "SELECT id FROM (SELECT s.id, row_number() OVER (PARTITION BY s.uri ORDER BY s.id) AS place"
            f" FROM statuses s {kept} WHERE s.uri IS NOT NULL) WHERE place > 1"
        ),
        "the same person has boosted the same post before": (
            "SELECT id FROM (SELECT s.id, row_number() OVER (PARTITION BY s.account_id, s.reblog_of_id ORDER BY s.id)"
            f" AS place FROM statuses s {kept} WHERE s.reblog_of_id IS NOT NULL) WHERE place > 1"
        ),
        "the post that it boosts is gone": (
            f"SELECT s.id FROM statuses s {kept} WHERE s.reblog_of_id IS NOT NULL"
            " AND s.reblog_of_id NOT IN (SELECT id FROM kept_statuses)"
        ),
    }
    for reason, chosen in bad_statuses.items():
        staging.run(f"{add} SELECT 'statuses', id, '{reason}' FROM ({chosen})")
        staging.run(f"DELETE FROM kept_statuses WHERE id IN ({chosen})")


def _leave_odd_tags(staging: Staging) -> None:
    """What is no hashtag here, and what would be the same as another."""
    staging.run("DROP TABLE IF EXISTS tag_names")
    staging.run("CREATE TABLE tag_names (name TEXT PRIMARY KEY, id INTEGER)")
    for row in staging.all("SELECT t.id, t.name FROM tags t JOIN kept_tags k ON k.id = t.id ORDER BY t.id"):
        name = str(row["name"] or "")
        reason = "" if is_tag(name) else "it is no hashtag here"
        if not reason:
            staging.run("INSERT OR IGNORE INTO tag_names VALUES (?, ?)", normal_tag(name), row["id"])
            if staging.one("SELECT id FROM tag_names WHERE name = ?", normal_tag(name)) != row["id"]:
                reason = "another hashtag is the same here"
        if reason:
            staging.run("DELETE FROM kept_tags WHERE id = ?", row["id"])
            staging.run("INSERT INTO unusable (step, name, reason) VALUES ('tags', ?, ?)", name, reason)
