"""What a field of a record may hold: how it is read, stored and described, told once.

A field turns what a client sent into a value or refuses it in the identity API's words; it knows the column it
is stored in and its JSON schema. What needs the database (does this flow exist?) is not its business.
"""

from kith.identity.rest.fields.base import I32, MASK, Computed, Field, InvalidValue, read_uuid, type_name
from kith.identity.rest.fields.references import Reference, References, missing, read_identifier
from kith.identity.rest.fields.text import (
    URL,
    Email,
    Expression,
    Input,
    Offset,
    Secret,
    Slug,
    Text,
    read_offset,
    read_url,
)
from kith.identity.rest.fields.values import Boolean, Choice, Choices, Integer, Moment, Number, Object

__all__ = [
    "I32",
    "MASK",
    "URL",
    "Boolean",
    "Choice",
    "Choices",
    "Computed",
    "Email",
    "Expression",
    "Field",
    "Input",
    "Integer",
    "InvalidValue",
    "Moment",
    "Number",
    "Object",
    "Offset",
    "Reference",
    "References",
    "Secret",
    "Slug",
    "Text",
    "missing",
    "read_identifier",
    "read_offset",
    "read_url",
    "read_uuid",
    "type_name",
]
