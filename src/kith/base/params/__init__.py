"""What a client sent, read once into a typed value. Routes say what they take: `kith.base.routing.parameters`."""

from __future__ import annotations

from kith.base.params.body import parse_json, read_body, read_json
from kith.base.params.fill import fill
from kith.base.params.limits import LIMITS, BodyLimits
from kith.base.params.loose import Loose
from kith.base.params.nesting import nest, read_form
from kith.base.params.upload import Upload

__all__ = [
    "LIMITS",
    "BodyLimits",
    "Loose",
    "Upload",
    "fill",
    "nest",
    "parse_json",
    "read_body",
    "read_form",
    "read_json",
]
