"""Documents as other servers write them: invented data, their shapes.

Each sample names the kind of document, the document, and what is understood of it: values by their dotted places in
what was read, or the reason for which it is refused.
"""

from __future__ import annotations

from tests.federation.neighbours import (
    akkoma,
    apkit,
    gotosocial,
    lemmy,
    mastodon,
    misskey,
    peertube,
    pixelfed,
    pleroma,
    snac,
    takahe,
    wordpress,
)
from tests.federation.neighbours.sample import Sample

__all__ = ["SAMPLES"]

_MODULES = (akkoma, apkit, gotosocial, lemmy, mastodon, misskey, peertube, pixelfed, pleroma, snac, takahe, wordpress)
SAMPLES: dict[str, Sample] = {
    f"{module.__name__.rpartition('.')[2]} {name}": sample
    for module in _MODULES
    for name, sample in module.SAMPLES.items()
}
