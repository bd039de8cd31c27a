"""Documents as twelve kinds of server write them are understood, or refused with a reason."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kith.federation.vocabulary.incoming import DocumentRefused, parse_document
from tests.federation.neighbours import SAMPLES
from tests.federation.neighbours.sample import Sample
from tests.federation.readers import READERS


def _at(value: Any, place: str) -> Any:
    for part in place.split("."):
        value = value[int(part)] if part.lstrip("-").isdigit() else getattr(value, part)
    return value


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_neighbours_document_is_understood_or_refused_with_a_reason(sample: Sample) -> None:
    document = parse_document(msgspec.json.encode(sample.document))
    if isinstance(sample.understood, str):
        with pytest.raises(DocumentRefused) as caught:
            READERS[sample.kind](document)
        assert caught.value.reason == sample.understood
    else:
        found = READERS[sample.kind](document)
        assert {place: _at(found, place) for place in sample.understood} == sample.understood
