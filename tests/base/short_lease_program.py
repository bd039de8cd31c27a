"""A real server whose leases of ids end after some seconds, so that a test need not wait for half a minute."""

from __future__ import annotations

import sys
from datetime import timedelta

from kith.base import ids
from kith.cli import main

if __name__ == "__main__":
    ids.LEASE = timedelta(seconds=6)
    ids.RENEW_SECONDS = 1.0
    sys.exit(main())
