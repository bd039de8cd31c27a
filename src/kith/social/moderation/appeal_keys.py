"""With what somebody can appeal who may not come in any more: a key that only the mail about it tells."""

from __future__ import annotations

import hashlib
import hmac

from kith.base.keys import Keys
from kith.base.work import Work


def appeal_key(work: Work, strike_id: int) -> str:
    return hmac.new(work.find(Keys).signing, f"appeal:{strike_id}".encode(), hashlib.sha256).hexdigest()[:40]


def is_appeal_key(work: Work, strike_id: int, key: str) -> bool:
    return hmac.compare_digest(appeal_key(work, strike_id).encode(), key.encode("utf-8", "replace"))
