from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.base.exchange import JSON, Answer
from kith.base.paging import Envelope
from kith.identity.rest.record import R
from kith.identity.rest.record_store import RecordStore

_encode = msgspec.json.Encoder().encode


def show(record: Mapping[str, Any] | Sequence[Any], status: int = 200) -> Answer:
    return Answer(status, JSON, _encode(record))


def show_record(store: RecordStore[R], record: R, status: int = 200) -> Answer:
    store.write_moments([record])
    return Answer(status, JSON, _encode(record))


def show_page(page: Envelope[Any]) -> Answer:
    return Answer(200, JSON, _encode(page))


NOTHING = Answer(204, (), b"")
