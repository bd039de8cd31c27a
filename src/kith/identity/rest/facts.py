"""What others hear of the records of the API."""

from __future__ import annotations

from kith.base.news import Fact


class AccessChanged(Fact, frozen=True):
    """A record changed on which it hangs who may enter an application: a group, a binding, a policy."""
