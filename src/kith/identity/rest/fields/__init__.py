"""The fields of records: how their values are validated, stored and described.

What needs the database, such as whether a reference exists, is checked elsewhere.
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
