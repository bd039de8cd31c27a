"""What Alembic runs: the connection is handed in, and its transaction is the caller's."""

from alembic import context

from kith.migrations import is_ours
from kith.schema import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    compare_type=True,
    include_name=is_ours,
    user_module_prefix="db.",
    render_as_batch=context.config.attributes.get("batch", False),
)
context.run_migrations()
