"""Labels and helps of fields that many records have.

By name; with its path in front where a name means something else than elsewhere. An empty help is none.
"""

from __future__ import annotations

__all__ = ["HELPS", "LABELS"]

LABELS: dict[str, str] = {
    "name": "Name",
    "slug": "Short name in addresses",
    "__type__": "Kind",
    "verbose_name": "Kind in words",
    "pk": "ID",
    "uuid": "Lasting ID",
    "policies": "Policies",
    "policy_engine_mode": "How many policies must agree",
    "pbm_uuid": "ID for bindings",
    "managed": "Comes with Kith as",
    "attributes": "Attributes",
    "enabled": "Active",
    "expires": "Ends on",
    "expiring": "Ends by itself",
    "created": "Made on",
    "last_updated": "Changed on",
    "updated": "Changed on",
    "last_used": "Last used",
    "group": "Group",
    "user": "Person",
    "username": "User name",
    "order": "Place in the order",
    "password": "Password",
    "description": "Description",
    "identifier": "Name there",
    "icon": "Address of a picture",
    "authentication_flow": "Flow for signing in",
    "enrollment_flow": "Flow for signing up",
    "authorization_flow": "Flow when the application is opened",
    "invalidation_flow": "Flow for signing out",
    "property_mappings": "Mappings",
    "expression": "Expression",
    "flow": "Flow",
    "source": "Source",
    "/managed/blueprints/path": "File",
    "/managed/blueprints/content": "YAML",
    "/managed/blueprints/context": "Values for !Context",
    "/managed/blueprints/status": "State",
    "/managed/blueprints/last_applied": "Last applied",
    "/managed/blueprints/last_applied_hash": "Hash of what was applied",
    "/managed/blueprints/managed_models": "Kinds of records in it",
    "/managed/blueprints/metadata": "What it says of itself",
    "/managed/blueprints/log": "What the last run had to say",
}
HELPS: dict[str, str] = {
    "slug": "Letters, digits, - and _. It stands in addresses that others keep.",
    "authorization_flow": "Leave empty: the flow for consent that comes with Kith.",
    "authentication_flow": "For people who are not signed in yet. Leave empty: the usual one.",
    "invalidation_flow": "Leave empty: the usual one.",
    "attributes": "Anything else, as a JSON object.",
    "/managed/blueprints/path": "Below the blueprint folder. Leave empty and write the YAML here instead.",
    "/managed/blueprints/content": "Only where there is no file.",
    "/managed/blueprints/context": "As a JSON object. They go over those that the blueprint has itself.",
    "/managed/blueprints/log": "",
}
