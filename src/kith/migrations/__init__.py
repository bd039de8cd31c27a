"""How a database came to its shape: one straight chain, newest last."""

HEAD = "0115"
FIRST = "0100"  # the first that was released
# The last schema before it, which has the same tables. Those before that one are not known any more.
LAST_UNRELEASED = "0072"

# In the place of a revision while rows are being copied into the database from another one.
MOVING = "moving"


def is_unknown(revision: str | None) -> bool:
    """Whether nobody can upgrade from there: it was made by a version before the first release."""
    return revision is not None and revision < FIRST and revision != LAST_UNRELEASED


def told_unknown(revision: str) -> str:
    return (
        f"the database was made by a version before 0.1.0 (it is at {revision}), which this version cannot upgrade: "
        'see "From before 0.1.0" in docs/upgrading.md'
    )


def told_moving() -> str:
    return (
        "a copy into this database is under way, or was interrupted: run the same `kith move` or `kith restore` once "
        "more, or use another database"
    )


def is_ours(name: str | None, _kind: str, _parents: object) -> bool:
    """Search indexes are made by hand in migrations, differently on each database; the tables do not tell of them."""
    return name is None or not name.startswith(
        (
            "identity_users_search",
            "ix_identity_users_trigrams",
            "ix_identity_users_upn",
            "social_status_words_",
            "social_account_words_",
        )
    )
