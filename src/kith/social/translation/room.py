"""Posts in other languages."""

from __future__ import annotations

from kith.base.http import Outgoing
from kith.base.rooms import Part, Room
from kith.base.work import Works
from kith.social.errors import DIALECT
from kith.social.translation import api
from kith.social.translation.providers import provider_of
from kith.social.translation.service import TextTranslator


def _translator(works: Works) -> TextTranslator:
    return TextTranslator(provider_of(works.settings, works.services[Outgoing]))


ROOM = Room(
    name="translation",
    dialect=DIALECT,
    routes=tuple(api.routes),
    parts=(Part(TextTranslator, _translator),),
)
