from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import AccountId


class FiltersChanged(Fact, frozen=True):
    account_id: AccountId
