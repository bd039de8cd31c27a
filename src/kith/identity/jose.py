"""The names of `joserfc` that this room uses. They are loaded when one is first asked for, as those of `crypto` are."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

from kith.base.late_names import load_late

if TYPE_CHECKING:
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, KeySet, OctKey, OKPKey, RSAKey
else:
    _find = load_late(
        globals(),
        {
            "joserfc": ("jwt",),
            "joserfc.errors": ("JoseError",),
            "joserfc.jwk": ("ECKey", "KeySet", "OctKey", "OKPKey", "RSAKey"),
        },
    )

    def __getattr__(name: str) -> object:
        found = _find(name)
        # "EdDSA" is old, but the name that clients know (RFC 9864 has others); a client's secret is as long as it is.
        warnings.filterwarnings("ignore", category=sys.modules["joserfc.errors"].SecurityWarning)
        return found


__all__ = ["ECKey", "JoseError", "KeySet", "OKPKey", "OctKey", "RSAKey", "jwt"]
