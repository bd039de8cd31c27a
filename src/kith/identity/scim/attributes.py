"""Attributes and schemas as data: what a resource may hold, and how that is told to clients (RFC 7643, section 7)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Type = Literal["string", "boolean", "decimal", "integer", "dateTime", "binary", "reference", "complex"]
Mutability = Literal["readWrite", "readOnly", "immutable", "writeOnly"]
Returned = Literal["always", "default", "request", "never"]


class ScimAttribute(msgspec.Struct, frozen=True, kw_only=True):
    """`sub` holds the parts of a complex attribute; `words` are usual values, others are allowed."""

    name: str
    help: str = ""
    type: Type = "string"
    many: bool = False
    required: bool = False
    exact: bool = False
    mutability: Mutability = "readWrite"
    returned: Returned = "default"
    uniqueness: Literal["none", "server"] = "none"
    words: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    sub: tuple[ScimAttribute, ...] = ()

    def part(self, name: str) -> ScimAttribute | None:
        return find_attribute(self.sub, name)

    def told(self) -> dict[str, Any]:
        shape: dict[str, Any] = {
            "name": self.name,
            "type": self.type,
            "multiValued": self.many,
            "description": self.help or self.name,
            "required": self.required,
            "caseExact": self.exact,
            "mutability": self.mutability,
            "returned": self.returned,
            "uniqueness": self.uniqueness,
        }
        if self.words:
            shape["canonicalValues"] = list(self.words)
        if self.references:
            shape["referenceTypes"] = list(self.references)
        if self.sub:
            shape["subAttributes"] = [one.told() for one in self.sub]
        return shape


class ResourceSchema(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    help: str
    attributes: tuple[ScimAttribute, ...]

    def told(self) -> dict[str, Any]:
        return {
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
            "id": self.id,
            "name": self.name,
            "description": self.help,
            "attributes": [one.told() for one in self.attributes],
        }


class ResourceType(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of resource: its schema, and the one that extends it, whose attributes stand below its name."""

    name: str
    endpoint: str
    help: str
    schema: ResourceSchema
    extension: ResourceSchema | None = None

    @property
    def schemas(self) -> tuple[ResourceSchema, ...]:
        return (self.schema, self.extension) if self.extension is not None else (self.schema,)

    def find(self, schema: str, name: str) -> ScimAttribute | None:
        """An attribute by its name in any case; `schema` is empty for the resource's own."""
        if self.extension is not None and schema.lower() == self.extension.id.lower():
            return find_attribute(self.extension.attributes, name)
        return find_attribute((*self.schema.attributes, *COMMON), name)

    def is_extension(self, schema: str) -> bool:
        return self.extension is not None and schema.lower() == self.extension.id.lower()

    def split(self, path: str) -> tuple[str, str]:
        """The schema that a path begins with, empty for the resource's own, and the rest of it."""
        lower = path.lower()
        for one in self.schemas:
            if lower.startswith(one.id.lower()) and path[len(one.id) :][:1] in ("", ":"):
                rest = path[len(one.id) + 1 :]
                return (one.id if one is self.extension else ""), rest
        return "", path


def find_attribute(attributes: tuple[ScimAttribute, ...], name: str) -> ScimAttribute | None:
    lower = name.lower()
    return next((one for one in attributes if one.name.lower() == lower), None)


# What every resource has; clients cannot set it, except for `externalId`.
COMMON = (
    ScimAttribute(name="id", exact=True, mutability="readOnly", returned="always", uniqueness="server"),
    ScimAttribute(name="externalId", exact=True, help="What the client calls it."),
    ScimAttribute(name="schemas", type="reference", many=True, returned="always", exact=True, mutability="readOnly"),
    ScimAttribute(
        name="meta",
        type="complex",
        mutability="readOnly",
        sub=(
            ScimAttribute(name="resourceType", exact=True, mutability="readOnly"),
            ScimAttribute(name="created", type="dateTime", mutability="readOnly"),
            ScimAttribute(name="lastModified", type="dateTime", mutability="readOnly"),
            ScimAttribute(name="location", type="reference", exact=True, mutability="readOnly"),
            ScimAttribute(name="version", exact=True, mutability="readOnly"),
        ),
    ),
)
