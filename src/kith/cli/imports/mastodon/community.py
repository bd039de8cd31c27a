"""What the team has set up and decided: roles, emoji, blocks, reports, rules, announcements and names."""

from __future__ import annotations

import ipaddress
import re

from kith.base.work import Work
from kith.cli.imports.mastodon.move import Move, RowBatch
from kith.cli.imports.mastodon.staging import Row
from kith.cli.imports.mastodon.values import at, is_true, must_at, numbers, past_id, text, words
from kith.cli.imports.rows import Rows
from kith.social.roles.permissions import ALL, BITS
from kith.social.roles.tables import EVERYONE, base_for

__all__ = [
    "NOTES",
    "WARNINGS",
    "choose_roles",
    "take_allows",
    "take_announcements",
    "take_canonical_blocks",
    "take_email_blocks",
    "take_emojis",
    "take_ip_blocks",
    "take_notes",
    "take_presets",
    "take_relays",
    "take_reports",
    "take_rules",
    "take_server_blocks",
    "take_settings",
    "take_warnings",
]

# Roles that are shipped with both, and what each must permit there: whoever may make roles names them as they like.
_SHIPPED = {
    "Moderator": ("moderator", "view_audit_log view_dashboard manage_reports manage_taxonomies manage_users"),
    "Admin": ("administrator", "manage_settings manage_roles manage_users manage_user_access"),
    "Owner": ("owner", "administrator"),
}
_SEVERITIES = {0: "silence", 1: "suspend", 2: "noop"}
_NETWORK = {5000: "sign_up_requires_approval", 5500: "sign_up_block", 9999: "no_access"}
_CATEGORIES = {0: "other", 1000: "spam", 1500: "legal", 2000: "violation"}
_ACTIONS = {
    0: "none", 1000: "disable", 1250: "mark_statuses_as_sensitive", 1500: "delete_statuses", 2000: "sensitive",
    3000: "silence", 4000: "suspend",
}  # fmt: skip
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")
NOTES = (
    "t.* FROM report_notes t JOIN kept_accounts a ON a.id = t.account_id JOIN reports r ON r.id = t.report_id"
    " JOIN kept_accounts b ON b.id = r.target_account_id JOIN kept_accounts c ON c.id = r.account_id WHERE 1"
)
WARNINGS = (
    "t.*, (SELECT r.id FROM reports r JOIN kept_accounts x ON x.id = r.account_id JOIN kept_accounts y ON"
    " y.id = r.target_account_id WHERE r.id = t.report_id) AS kept_report,"
    " (SELECT id FROM kept_accounts WHERE id = t.account_id) AS kept_staff"
    " FROM account_warnings t JOIN kept_accounts b ON b.id = t.target_account_id WHERE 1"
)
_NAMES = {"site_title": "title", "site_short_description": "description", "site_contact_email": "contact_email"}
_PAGES = {"site_extended_description": "extended_description", "site_terms": "privacy_policy"}


async def choose_roles(move: Move, work: Work) -> None:
    """Roles that are shipped with both are the same; others come along, also those that are only called like them."""
    rows = Rows()
    for row in move.staging.all("SELECT * FROM user_roles ORDER BY id"):
        name, permissions = text(row, "name"), (row["permissions"] or 0) & ALL
        if row["id"] == EVERYONE:
            continue
        base = _shipped(name, permissions)
        if base is not None:
            move.roles[row["id"]] = (base, None)
            continue
        made = must_at(row, "created_at", move.started_at)
        id, base, color = past_id(made, row["id"]), base_for(permissions), text(row, "color")
        move.roles[row["id"]] = (base, id)
        rows.add(
            "social_roles",
            id=id,
            name=name,
            color=color if _COLOR.fullmatch(color) else "",
            position=min(max(row["position"] or 0, 0), 999),
            permissions=permissions,
            highlighted=is_true(row, "highlighted"),
            base=base,
            is_shipped=False,
            created_at=made,
            updated_at=move.started_at,
        )
    await rows.write(work.db)


def _shipped(name: str, permissions: int) -> str | None:
    """The shipped role that an imported one becomes: same name, and at least the permissions it needs. Else none."""
    base, needed = _SHIPPED.get(name, ("", ""))
    return base if base and all(permissions & BITS[one] for one in needed.split()) else None


async def take_emojis(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        url = text(row, "image_remote_url")
        is_local = row["domain"] is None
        if not is_local and not url.startswith(("http://", "https://")):
            batch.leave(f":{row['shortcode']}:@{row['domain']}", "it is not told where its picture is")
            continue
        batch.rows.add(
            "social_emojis",
            id=row["id"],
            shortcode=text(row, "shortcode"),
            domain="" if is_local else text(row, "domain").lower(),
            file="" if is_local else url,
            static_file="" if is_local else url,
            category=text(row, "category") or None,
            visible_in_picker=is_local and is_true(row, "visible_in_picker", default=True),
            disabled=is_true(row, "disabled"),
            uri=text(row, "uri") or None,
            updated_at=must_at(row, "updated_at", move.started_at),
        )
        batch.taken += 1


async def take_server_blocks(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.rows.add(
            "social_server_blocks",
            id=row["id"],
            domain=text(row, "domain").lower(),
            severity=_SEVERITIES.get(int(row["severity"] or 0), "silence"),
            reject_media=is_true(row, "reject_media"),
            reject_reports=is_true(row, "reject_reports"),
            obfuscate=is_true(row, "obfuscate"),
            private_comment=text(row, "private_comment") or None,
            public_comment=text(row, "public_comment") or None,
            created_at=must_at(row, "created_at", move.started_at),
        )
        batch.taken += 1


async def take_allows(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        created = must_at(row, "created_at", move.started_at)
        batch.rows.add("social_server_allows", id=row["id"], domain=text(row, "domain").lower(), created_at=created)
        batch.taken += 1


async def take_email_blocks(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.rows.add(
            "social_email_domain_blocks",
            id=row["id"],
            domain=text(row, "domain").lower(),
            allow_with_approval=is_true(row, "allow_with_approval"),
            created_at=must_at(row, "created_at", move.started_at),
        )
        batch.taken += 1


async def take_ip_blocks(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        severity = _NETWORK.get(int(row["severity"] or 0))
        try:
            network = str(ipaddress.ip_network(text(row, "ip"), strict=False))
        except ValueError:
            network = ""
        if severity is None or not network:
            batch.leave(text(row, "ip"), "it is no network, or blocks nothing")
            continue
        batch.rows.add(
            "social_ip_blocks",
            id=row["id"],
            network=network,
            severity=severity,
            comment=text(row, "comment"),
            expires_at=at(row, "expires_at"),
            created_at=must_at(row, "created_at", move.started_at),
        )
        batch.taken += 1


async def take_canonical_blocks(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        found, created = text(row, "canonical_email_hash")[:64], must_at(row, "created_at", move.started_at)
        batch.rows.add("social_canonical_email_blocks", id=row["id"], hash=found, created_at=created)
        batch.taken += 1


async def take_reports(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        created = must_at(row, "created_at", move.started_at)
        batch.rows.add(
            "social_reports",
            id=row["id"],
            account_id=row["account_id"],
            target_id=row["target_account_id"],
            category=_CATEGORIES.get(int(row["category"] or 0), "other"),
            comment=text(row, "comment"),
            status_ids=[str(id) for id in numbers(row, "status_ids")],
            rule_ids=[str(id) for id in numbers(row, "rule_ids")],
            collection_ids=[],
            forwarded=is_true(row, "forwarded"),
            forward_to_domains=[],
            thread_id=row["id"],
            assigned_id=_kept(move, row, "assigned_account_id"),
            action_taken_at=at(row, "action_taken_at"),
            action_taken_by_id=_kept(move, row, "action_taken_by_account_id"),
            created_at=created,
            updated_at=must_at(row, "updated_at", created),
        )
        batch.taken += 1


def _kept(move: Move, row: Row, name: str) -> int | None:
    found: int | None = move.staging.one("SELECT id FROM kept_accounts WHERE id = ?", row[name])
    return found


async def take_notes(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.rows.add(
            "social_report_notes",
            id=row["id"],
            report_id=row["report_id"],
            account_id=row["account_id"],
            content=text(row, "content"),
            created_at=must_at(row, "created_at", move.started_at),
        )
        batch.taken += 1


async def take_warnings(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.rows.add(
            "social_strikes",
            id=row["id"],
            target_id=row["target_account_id"],
            account_id=row["kept_staff"],
            action=_ACTIONS.get(int(row["action"] or 0), "none"),
            text=text(row, "text"),
            status_ids=words(row, "status_ids"),
            report_id=row["kept_report"],
            overruled_at=at(row, "overruled_at"),
            created_at=must_at(row, "created_at", move.started_at),
        )
        batch.taken += 1


async def take_presets(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        created = must_at(row, "created_at", move.started_at)
        said = {"title": text(row, "title"), "text": text(row, "text")}
        batch.rows.add("social_warning_presets", id=row["id"], **said, created_at=created)
        batch.taken += 1


async def take_rules(_move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.rows.add(
            "social_rules",
            id=row["id"],
            text=text(row, "text"),
            hint=text(row, "hint"),
            position=int(row["priority"] or 0),
            deleted_at=at(row, "deleted_at"),
        )
        batch.taken += 1


async def take_announcements(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        created = must_at(row, "created_at", move.started_at)
        batch.rows.add(
            "social_announcements",
            id=row["id"],
            text=text(row, "text"),
            all_day=is_true(row, "all_day"),
            starts_at=at(row, "starts_at"),
            ends_at=at(row, "ends_at"),
            scheduled_at=at(row, "scheduled_at"),
            published=is_true(row, "published"),
            published_at=at(row, "published_at"),
            created_at=created,
            updated_at=must_at(row, "updated_at", created),
        )
        batch.taken += 1


async def take_relays(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        inbox, follow = text(row, "inbox_url"), text(row, "follow_activity_id")
        if row["state"] != "2" or not follow or not inbox.startswith(("https://", "http://")):
            batch.leave(inbox, "it is not in use")
            continue
        created = must_at(row, "created_at", move.started_at)
        batch.rows.add(
            "federation_relays",
            id=row["id"],
            inbox=inbox,
            state="enabled",
            follow_uri=follow,
            created_at=created,
            answered_at=created,
        )
        batch.taken += 1


async def take_settings(move: Move, batch: RowBatch) -> None:
    """Names and texts; how the server behaves is set anew, for the switches are others."""
    for row in batch.items:
        name, value = text(row, "var"), plain_yaml(text(row, "value"))
        if not value:
            continue
        if name in _NAMES:
            batch.rows.add("base_settings", name=_NAMES[name], value=value, updated_at=move.started_at)
        elif name in _PAGES:
            page = {"kind": _PAGES[name], "effective_date": "", "text": value, "changelog": ""}
            batch.rows.add("social_pages", **page, updated_at=move.started_at)
        else:
            continue
        batch.taken += 1


def plain_yaml(value: str) -> str:
    """One text, as Rails writes it into a column: plain, quoted, or as a block of lines."""
    said = value.removeprefix("---").strip("\n").strip(" ")
    head, _, rest = said.partition("\n")
    if head[:1] in ("|", ">"):
        lines = [line.removeprefix("  ") for line in rest.split("\n")]
        return "\n".join(lines).strip()
    said = " ".join(line.strip() for line in said.split("\n")).strip().removesuffix("...").strip()
    if len(said) >= 2 and said[0] == said[-1] == "'":
        return said[1:-1].replace("''", "'")
    if len(said) >= 2 and said[0] == said[-1] == '"':
        return said[1:-1].replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
    return said
