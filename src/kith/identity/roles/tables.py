from __future__ import annotations

from sqlalchemy import Column

from kith.base.db import UID
from kith.identity.rest import link_table, record_table
from kith.identity.rest.fields import Choices, Text

FIELDS = (
    Text(name="name", required=True, unique=True, most=150),
    Choices(name="permissions", most=2000, help="What the role grants, such as core.view_user."),
)

roles = record_table("identity_roles", Column("role_uuid", UID, primary_key=True), fields=FIELDS)
group_roles = link_table("identity_group_roles", "identity_groups.group_uuid", "identity_roles.role_uuid")
user_roles = link_table("identity_user_roles", "identity_users.id", "identity_roles.role_uuid", owner_integer=True)
