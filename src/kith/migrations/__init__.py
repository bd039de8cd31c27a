"""How a database came to its shape: one straight chain, newest last."""

HEAD = "0067"


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
