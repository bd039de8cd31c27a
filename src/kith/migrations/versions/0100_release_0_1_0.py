"""Release 0.1.0: every table as it was then."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
from alembic import op

from kith import migrations

revision = "0100"
down_revision = None

_SEARCHED = "{0}username || {1} || {0}name || {1} || {0}email || {1} || {0}uuid"
_UPN = "lower(attributes ->> 'upn')"
# id, name, position, permissions as bits, whether it is shown, what it is to the identity half
_ROLES = (
    (-99, "", -1, 65536, False, "user"),
    (1, "Moderator", 10, 1049884, True, "moderator"),
    (2, "Admin", 100, 2031612, True, "administrator"),
    (3, "Owner", 1000, 1, True, "owner"),
)


def upgrade() -> None:
    dialect = op.get_bind().dialect.name
    for statement in (Path(migrations.__file__).parent / "baseline" / f"{dialect}.sql").read_text().split("\n\n"):
        op.get_bind().exec_driver_sql(statement)
    op.execute(f"CREATE INDEX ix_identity_users_upn ON identity_users (({_UPN})) WHERE ({_UPN}) IS NOT NULL")
    if dialect == "sqlite":
        _search_people_on_sqlite()
        _search_words_on_sqlite("social_status_words", "status_id")
        _search_words_on_sqlite("social_account_words", "account_id")
    else:
        _search_people_on_postgres()
        _search_words_on_postgres("social_status_words")
        _search_words_on_postgres("social_account_words")
    _ship_roles()


def _search_people_on_sqlite() -> None:
    """A table of trigrams beside the people, kept by triggers."""
    new = _SEARCHED.format("new.", "char(10)")
    op.execute("CREATE VIRTUAL TABLE identity_users_search USING fts5(text, tokenize = 'trigram')")
    op.execute(
        "CREATE TRIGGER identity_users_search_insert AFTER INSERT ON identity_users BEGIN "
        f"INSERT INTO identity_users_search(rowid, text) VALUES (new.id, {new}); END"
    )
    op.execute(
        "CREATE TRIGGER identity_users_search_update AFTER UPDATE OF username, name, email ON identity_users BEGIN "
        f"UPDATE identity_users_search SET text = {new} WHERE rowid = new.id; END"
    )
    op.execute(
        "CREATE TRIGGER identity_users_search_delete AFTER DELETE ON identity_users BEGIN "
        "DELETE FROM identity_users_search WHERE rowid = old.id; END"
    )


def _search_people_on_postgres() -> None:
    """An index of trigrams, where the server has the extension; without it a search reads the whole table."""
    connection = op.get_bind()
    available = sa.text("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'")
    if connection.execute(available).scalar() is None:
        return
    try:
        with connection.begin_nested():
            connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
    except sa.exc.DBAPIError:
        return  # not allowed to
    text = _SEARCHED.format("", "chr(10)") + "::text"
    op.execute(f"CREATE INDEX ix_identity_users_trigrams ON identity_users USING gin ((lower({text})) gin_trgm_ops)")


def _search_words_on_sqlite(table: str, key: str) -> None:
    """A full-text index over the words, which are made ready before they are stored; kept by triggers."""
    index = f"{table}_index"
    forget = f"INSERT INTO {index}({index}, rowid, words) VALUES ('delete', old.{key}, old.words);"
    learn = f"INSERT INTO {index}(rowid, words) VALUES (new.{key}, new.words);"
    op.execute(
        f"CREATE VIRTUAL TABLE {index} USING fts5(words, content='{table}', content_rowid='{key}', "
        'tokenize = "unicode61 remove_diacritics 2")'
    )
    op.execute(f"CREATE TRIGGER {index}_insert AFTER INSERT ON {table} BEGIN {learn} END")
    op.execute(f"CREATE TRIGGER {index}_update AFTER UPDATE ON {table} BEGIN {forget} {learn} END")
    op.execute(f"CREATE TRIGGER {index}_delete AFTER DELETE ON {table} BEGIN {forget} END")


def _search_words_on_postgres(table: str) -> None:
    op.execute(f"CREATE INDEX {table}_index ON {table} USING gin (to_tsvector('simple', words))")


def _ship_roles() -> None:
    names = ("id", "name", "position", "permissions", "highlighted", "base")
    now = datetime.now(UTC)
    at = now if op.get_bind().dialect.name == "postgresql" else now.isoformat(timespec="microseconds")[:-6] + "Z"
    more = {"color": "", "is_shipped": True, "created_at": at, "updated_at": at}
    table = sa.table(
        "social_roles", *(sa.column(name) for name in (*names, "color", "is_shipped", "created_at", "updated_at"))
    )
    op.bulk_insert(table, [dict(zip(names, one, strict=True)) | more for one in _ROLES])
