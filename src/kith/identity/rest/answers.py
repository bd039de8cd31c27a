from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.base.exchange import JSON, Answer

_encode = msgspec.json.Encoder().encode


def show(record: Mapping[str, Any] | Sequence[Any], status: int = 200) -> Answer:
    return Answer(status, JSON, _encode(record))


NOTHING = Answer(204, (), b"")
