"""A small Mastodon server as its database has it, in the shapes of three releases.

Only the columns that matter, from the facts of each release: 4.2 keeps secrets of authenticator apps in three columns
and knows no quotes, 4.3 has other secrets and `attribution_domains`, 4.5 numbers its people (`id_scheme`) and quotes.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import bcrypt
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from kith.base.ids import id_at
from kith.federation.keys.key_pairs import generate

RELEASES = ("4.2", "4.3", "4.5")
PASSWORD = "correct horse battery staple"
TOTP_SECRET = "JBSWY3DPEHPK3PXP"
OTP_SECRET, PRIMARY_KEY, SALT = "legacy otp secret", "a primary key", "a derivation salt"
KEYS = {
    "OTP_SECRET": OTP_SECRET,
    "ACTIVE_RECORD_ENCRYPTION_PRIMARY_KEY": PRIMARY_KEY,
    "ACTIVE_RECORD_ENCRYPTION_KEY_DERIVATION_SALT": SALT,
}
TOKEN = "an access token of an app, in plain text"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_TYPES = {bool: "boolean", int: "bigint", str: "text", datetime: "timestamp", list: "text[]", dict: "jsonb"}


class MastodonServer:
    """People: ada (1, the owner), bob (a moderator), newt (who waits to be let in); elsewhere eve, whom ada follows,
    mel, who follows ada, and stranger, whom nobody knows."""

    def __init__(self, release: str, base_url: str) -> None:
        self.release, self.base_url = release, base_url
        self.now = datetime.now(UTC).replace(microsecond=0)
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self.public_key, self.private_key = generate()
        self.ids: dict[str, int] = {"ada": 1}
        self._fill()

    @property
    def is_numbered(self) -> bool:
        return self.release == "4.5"

    def actor(self, name: str) -> str:
        if name == "bob" and self.is_numbered:
            return f"{self.base_url}/ap/users/{self.ids['bob']}"
        return f"{self.base_url}/users/{name}"

    def add(self, table: str, **values: Any) -> None:
        self.tables.setdefault(table, []).append(values)

    def ago(self, **parts: float) -> datetime:
        return self.now - timedelta(**parts)

    def id(self, name: str, at: datetime, tail: int = 7) -> int:
        self.ids[name] = id_at(at, tail)
        return self.ids[name]

    # What is in it

    def _fill(self) -> None:
        old = self.ago(days=900)
        self.id("bob", old), self.id("newt", self.ago(days=2))
        for number, (name, permissions) in enumerate((("Moderator", 1308), ("Owner", 1), ("Gardener", 1 << 14)), 1):
            self.add(
                "user_roles", id=number, name=name, color="", position=number * 10, permissions=permissions,
                highlighted=True, created_at=old, updated_at=old,
            )  # fmt: skip
        self._account("127.0.0.1", id=-99, at=old)
        self._account("ada", id=1, at=old, display_name="Ada", note="I like #maths", locked=True,
                      fields=[{"name": "Site", "value": "https://ada.example", "verified_at": None}],
                      avatar_file_name="0a1b.png")  # fmt: skip
        self._account("bob", id=self.ids["bob"], at=old)
        self._account("newt", id=self.ids["newt"], at=self.ago(days=2))
        self.add_stranger("odd", "https://far.example/users/odd", "far.example", url="javascript:alert(1)")
        for name in ("eve", "mel", "stranger"):
            self.add_stranger(name, f"https://far.example/users/{name}", "far.example")
        self._user("ada", 1, role=2)
        self._user("bob", 2, role=1)
        self._user("newt", 3, approved=False)
        self.add("user_invite_requests", id=1, user_id=3, text="I know Ada.", created_at=old, updated_at=old)
        self._posts()
        self._relations()
        self._community()

    def _account(self, name: str, *, id: int, at: datetime, **more: Any) -> None:
        values: dict[str, Any] = {
            "id": id, "username": name, "domain": None, "private_key": self.private_key, "public_key": self.public_key,
            "created_at": at, "updated_at": at, "note": "", "display_name": "", "uri": "", "url": None,
            "avatar_file_name": None, "avatar_remote_url": None, "locked": False, "header_file_name": None,
            "header_remote_url": "", "inbox_url": "", "outbox_url": "", "shared_inbox_url": "", "followers_url": "",
            "memorial": False, "moved_to_account_id": None, "featured_collection_url": None, "fields": [],
            "actor_type": None, "discoverable": True, "also_known_as": ["https://old.example/users/x y"],
            "silenced_at": None, "suspended_at": None, "hide_collections": None, "sensitized_at": None,
            "indexable": True,
        }  # fmt: skip
        if self.release != "4.2":
            values["attribution_domains"] = ["blog.example"]
        if self.is_numbered:
            values["following_url"] = ""
            values["id_scheme"] = 1 if name == "bob" else 0
        self.add("accounts", **values | more)

    def add_stranger(self, name: str, uri: str, domain: str, **more: Any) -> None:
        at = self.ago(days=700)
        told = {
            "domain": domain, "uri": uri, "url": uri, "private_key": None, "inbox_url": f"{uri}/inbox",
            "shared_inbox_url": f"https://{domain}/inbox", "followers_url": f"{uri}/followers",
            "note": "<p>Hello</p><script>no</script>",
        }  # fmt: skip
        self._account(name, id=self.id(name, at, ord(name[0])), at=at, **told | more)

    def _user(self, name: str, number: int, *, role: int | None = None, approved: bool = True) -> None:
        at = self.ago(days=800)
        values: dict[str, Any] = {
            "id": number, "email": f"{name}@Example.org", "created_at": at, "updated_at": at,
            "encrypted_password": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4, b"2a")).decode(),
            "confirmed_at": at, "locale": "de", "otp_required_for_login": name == "bob", "consumed_timestep": None,
            "otp_backup_codes": ["$2a$10$x"] if name == "bob" else None,
            "account_id": self.ids[name], "disabled": False, "chosen_languages": None, "approved": approved,
            "sign_up_ip": "198.51.100.7", "role_id": role, "current_sign_in_at": self.ago(days=1),
            "settings": json.dumps({"default_privacy": "unlisted", "web.auto_play": True}),
        }  # fmt: skip
        self.add("users", **values | (self._secret() if name == "bob" else self._no_secret()))

    def _no_secret(self) -> dict[str, Any]:
        return dict.fromkeys(self._secret())

    def _secret(self) -> dict[str, Any]:
        iv, salt = bytes(range(12)), bytes(range(16))
        encoded = [base64.b64encode(one).decode() for one in (iv, salt)]
        if self.release == "4.2":
            key = hashlib.pbkdf2_hmac("sha1", OTP_SECRET.encode(), salt, 2000, 32)
            sealed = base64.b64encode(AESGCM(key).encrypt(iv, TOTP_SECRET.encode(), None)).decode()
            names = ("encrypted_otp_secret", "encrypted_otp_secret_iv", "encrypted_otp_secret_salt")
            return dict(zip(names, (f"{sealed}\n", f"{encoded[0]}\n", f"_{encoded[1]}\n"), strict=True))
        key = hashlib.pbkdf2_hmac("sha256", PRIMARY_KEY.encode(), SALT.encode(), 1 << 16, 32)
        sealed_bytes = AESGCM(key).encrypt(iv, TOTP_SECRET.encode(), None)
        parts = {"p": sealed_bytes[:-16], "iv": iv, "at": sealed_bytes[-16:]}
        texts = {name: base64.b64encode(part).decode() for name, part in parts.items()}
        return {"otp_secret": json.dumps({"p": texts["p"], "h": {"iv": texts["iv"], "at": texts["at"]}})}

    def status(self, name: str, author: str, said: str, at: datetime, **more: Any) -> int:
        id = self.id(name, at, len(self.tables.get("statuses", [])))
        is_local = author in ("ada", "bob", "newt")
        uri = f"{self.actor(author)}/statuses/{id}" if is_local else f"https://far.example/statuses/{name}"
        if more.get("reblog_of_id"):
            uri += "/activity"
        values: dict[str, Any] = {
            "id": id, "uri": uri, "text": said, "created_at": at, "updated_at": at, "in_reply_to_id": None,
            "reblog_of_id": None, "url": None, "sensitive": False, "visibility": 0, "spoiler_text": "", "reply": False,
            "language": "en", "conversation_id": 5, "local": is_local, "account_id": self.ids[author],
            "application_id": None, "in_reply_to_account_id": None, "poll_id": None, "deleted_at": None,
            "edited_at": None, "ordered_media_attachment_ids": None,
        }  # fmt: skip
        if self.is_numbered:
            values["quote_approval_policy"] = 2 << 16
        self.add("statuses", **values | more)
        return id

    def _posts(self) -> None:
        post, ago = self.status, self.ago
        self.id("picture", ago(days=50))
        first = post("first", "ada", "Hello @bob and @eve@far.example\n\nsee #Maths", ago(days=50), application_id=1,
                     ordered_media_attachment_ids=[self.ids["picture"]])  # fmt: skip
        for number, name in enumerate(("bob", "eve"), 1):
            self.add("mentions", id=number, status_id=first, account_id=self.ids[name], silent=False)
        for number, tag in enumerate(("maths", "ｍaths", "12"), 1):  # the second is written with a wide letter
            self.add("tags", id=number, name=tag, display_name=tag.title(), usable=None, trendable=None, listable=None,
                     last_status_at=None, created_at=ago(days=99), updated_at=ago(days=99),
                     reviewed_at=None)  # fmt: skip
            self.add("statuses_tags", status_id=first, tag_id=number)
        self.add(
            "media_attachments", id=self.ids["picture"], status_id=first, file_file_name="abc123.png",
            file_content_type="image/png", remote_url="", created_at=ago(days=50), type=0, account_id=1,
            file_meta={"original": {"width": 1, "height": 1}}, description="A tab\there", blurhash=None,
            thumbnail_file_name=None, thumbnail_remote_url=None, processing=2, scheduled_status_id=None,
        )  # fmt: skip
        post("reply", "bob", "Hello Ada", ago(days=49), in_reply_to_id=first, reply=True, in_reply_to_account_id=1)
        eve = post("eves", "eve", "<p>From <b onclick='x'>far</b></p>", ago(days=200))
        post("old", "eve", "<p>nobody cared</p>", ago(days=300))
        post("fresh", "eve", "<p>just now</p>", ago(days=1))
        post("noise", "stranger", "<p>noise</p>", ago(days=1))
        # Elsewhere threads may go in a circle, and addresses may be anything.
        egg = post("egg", "eve", "<p>first</p>", ago(hours=9), reply=True, url="javascript:alert(1)")
        hen = post("hen", "eve", "<p>no, first</p>", ago(hours=8), in_reply_to_id=egg, reply=True)
        next(one for one in self.tables["statuses"] if one["id"] == egg)["in_reply_to_id"] = hen
        post("boost", "ada", "", ago(days=40), reblog_of_id=eve)
        gone = post("gone", "bob", "deleted", ago(days=39), deleted_at=ago(days=38))
        post("boost_of_gone", "ada", "", ago(days=38), reblog_of_id=gone)
        post("poll", "bob", "Tea or coffee?", ago(days=10), poll_id=1)
        self.add("polls", id=1, account_id=self.ids["bob"], status_id=self.ids["poll"], expires_at=ago(days=9),
                 options=["Tea, please", "Cof\\fee"], cached_tallies=[1, 0], multiple=False, hide_totals=False,
                 voters_count=1)  # fmt: skip
        self.add("poll_votes", id=1, account_id=1, poll_id=1, choice=0, created_at=ago(days=10))
        edited = post("edited", "ada", "second thoughts", ago(days=8), edited_at=ago(days=7))
        for number, words in enumerate(("first thoughts", "second thoughts"), 1):
            self.add("status_edits", id=number, status_id=edited, text=words, spoiler_text="", sensitive=False,
                     created_at=ago(days=9 - number), ordered_media_attachment_ids=None, media_descriptions=None,
                     poll_options=None)  # fmt: skip
        direct = post("direct", "bob", "@ada psst", ago(days=6), visibility=3, conversation_id=6)
        self.add("mentions", id=3, status_id=direct, account_id=1, silent=False)
        self.add("account_conversations", id=1, account_id=1, conversation_id=6, unread=True,
                 participant_account_ids=[self.ids["bob"]], status_ids=[direct], last_status_id=direct)  # fmt: skip
        for table, about in (("favourites", eve), ("bookmarks", self.ids["reply"]), ("status_pins", first)):
            self.add(table, id=1, account_id=1, status_id=about, created_at=ago(days=5))
        self.add("status_stats", id=1, status_id=first, replies_count=1, reblogs_count=2, favourites_count=3)
        self.add("account_stats", id=1, account_id=1, statuses_count=4, following_count=2, followers_count=2,
                 last_status_at=ago(days=8))  # fmt: skip
        if self.is_numbered:
            post("quote", "bob", "As Ada says", ago(days=4))
            self.add("quotes", id=1, status_id=self.ids["quote"], quoted_status_id=first, state=1, approval_uri=None)

    def _relations(self) -> None:
        at = self.ago(days=60)
        pairs = (("bob", "ada"), ("ada", "bob"), ("ada", "eve"), ("mel", "ada"))
        for number, (one, other) in enumerate(pairs, 1):
            self.add("follows", id=number, **self._pair(one, other), show_reblogs=other != "eve", notify=False,
                     uri=f"https://far.example/follow/{number}", languages=["de"] if other == "eve" else None)  # fmt: skip
        self.add("blocks", id=1, **self._pair("bob", "mel"), uri=None)
        self.add("mutes", id=1, **self._pair("ada", "mel"), hide_notifications=False, expires_at=None)
        self.add("account_notes", id=1, **self._pair("ada", "bob"), comment="owes me tea")
        self.add("account_domain_blocks", id=1, domain="Bad.example", created_at=at, account_id=1)
        self.add("lists", id=1, account_id=1, title="Friends", created_at=at, replies_policy=1, exclusive=True)
        self.add("list_accounts", id=1, list_id=1, account_id=self.ids["bob"])
        self.add("custom_filters", id=1, account_id=1, expires_at=None, phrase="Spoilers", context=["home", "thread"],
                 action=1)  # fmt: skip
        self.add("custom_filter_keywords", id=1, custom_filter_id=1, keyword="the end", whole_word=True)
        self.add("tag_follows", id=1, tag_id=1, account_id=1, created_at=at)
        self.add("markers", id=1, user_id=1, timeline="home", last_read_id=self.ids["fresh"], lock_version=3,
                 updated_at=at)  # fmt: skip

    def _pair(self, one: str, other: str) -> dict[str, Any]:
        people = {"account_id": self.ids[one], "target_account_id": self.ids[other]}
        return people | {"created_at": self.ago(days=60), "updated_at": self.ago(days=60)}

    def _community(self) -> None:
        at = self.ago(days=90)
        self.add("oauth_applications", id=1, name="Tusky", uid="client-one", secret="secret-one",
                 redirect_uri="urn:ietf:wg:oauth:2.0:oob\ntusky://back", scopes="read write follow push",
                 created_at=at, superapp=False, website="https://tusky.example", confidential=True)  # fmt: skip
        for number, (token, revoked) in enumerate(((TOKEN, None), ("revoked token", at)), 1):
            self.add("oauth_access_tokens", id=number, token=token, expires_in=None, revoked_at=revoked, created_at=at,
                     scopes="read write follow push", application_id=1, resource_owner_id=1,
                     last_used_at=None)  # fmt: skip
        self.add("webauthn_credentials", id=1, external_id="AQIDBA", public_key="pQECAyYgASFYIA", nickname="Key",
                 sign_count=4, user_id=1, created_at=at)  # fmt: skip
        self.add("custom_emojis", id=1, shortcode="tea", domain=None, image_file_name="tea.png", disabled=False,
                 uri=None, image_remote_url=None, visible_in_picker=True, category_id=1, updated_at=at)  # fmt: skip
        self.add("custom_emoji_categories", id=1, name="Drinks")
        self.add("domain_blocks", id=1, domain="bad.example", created_at=at, severity=1, reject_media=True,
                 reject_reports=False, private_comment="never", public_comment="spam", obfuscate=False)  # fmt: skip
        self.add("ip_blocks", id=1, ip="203.0.113.0/24", severity=9999, expires_at=None, comment="", created_at=at)
        self.add("rules", id=1, priority=0, deleted_at=None, text="Be kind", hint="")
        self.add("settings", id=1, var="site_title", value="--- 'Ada''s place'\n")
        self.add("reports", id=1, status_ids=[self.ids["noise"]], comment="noise", created_at=at, updated_at=at,
                 account_id=1, action_taken_by_account_id=None, target_account_id=self.ids["stranger"],
                 assigned_account_id=self.ids["bob"], forwarded=False, category=1000, action_taken_at=None,
                 rule_ids=None)  # fmt: skip
        self.add("scheduled_statuses", id=1, account_id=1, scheduled_at=self.now + timedelta(days=1),
                 params={"text": "later"})  # fmt: skip

    # How it is handed over

    @property
    def media(self) -> list[str]:
        number = f"{self.ids['picture']:012d}"
        parts = "/".join(number[place : place + 3] for place in range(0, len(number), 3))
        return [
            f"media_attachments/files/{parts}/original/abc123.png",
            f"media_attachments/files/{parts}/small/abc123.png",
            "accounts/avatars/000/000/001/original/0a1b.png",
            "custom_emojis/images/000/000/001/original/tea.png",
        ]

    def write_media(self, folder: Path) -> Path:
        for name in self.media:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(PNG)
        return folder

    def dump(self, path: Path) -> Path:
        """As `pg_dump` writes it in plain format: tables by name, rows in no order."""
        pieces = ["--\n-- PostgreSQL database dump\n--\n\nSET client_encoding = 'UTF8';\n"]
        for table in sorted(self.tables):
            rows = self.tables[table]
            pieces.append(f"\nCOPY public.{table} ({', '.join(rows[0])}) FROM stdin;\n")
            pieces += [f"{_line(row)}\n" for row in reversed(rows)]
            pieces.append("\\.\n\n")
        pieces.append("--\n-- PostgreSQL database dump complete\n--\n")
        data = "".join(pieces).encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        return path

    async def create(self, url: str) -> None:
        connection = await asyncpg.connect(url)
        try:
            for table, rows in self.tables.items():
                columns = ", ".join(f'"{name}" {_type(name, rows)}' for name in rows[0])
                await connection.execute(f"CREATE TABLE {table} ({columns})")
                lines = iter([f"{_line(row)}\n".encode() for row in rows])

                async def feed(lines: Any = lines) -> Any:
                    for line in lines:
                        yield line

                await connection.copy_to_table(table, source=feed(), columns=list(rows[0]))
        finally:
            await connection.close()


def _type(name: str, rows: list[dict[str, Any]]) -> str:
    value = next((row[name] for row in rows if row[name] is not None), "")
    if isinstance(value, list) and value and isinstance(value[0], int):
        return "bigint[]"
    if isinstance(value, list) and (not value or isinstance(value[0], dict)):
        return "jsonb"
    return _TYPES[type(value)]


def _line(row: Mapping[str, Any]) -> str:
    return "\t".join(map(_value, row.values()))


def _value(value: Any) -> str:
    match value:
        case None:
            return r"\N"
        case bool():
            return "t" if value else "f"
        case datetime():
            return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
        case [*items] if items and not isinstance(items[0], dict):
            return _escaped("{" + ",".join(_element(one) for one in items) + "}")
        case dict() | list():
            return _escaped(json.dumps(value))
        case _:
            return _escaped(str(value))


def _element(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    quoted = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
