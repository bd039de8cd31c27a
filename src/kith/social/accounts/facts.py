"""What happens to accounts, for whoever wants to know."""

from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import AccountId


class AccountChanged(Fact, frozen=True):
    """What is shown of it is another."""

    account_id: AccountId


class AccountMade(Fact, frozen=True):
    """Somebody here has an account from now on, whether others see it yet or not."""

    account_id: AccountId


class AccountWelcomed(Fact, frozen=True):
    """Somebody has confirmed their address and was approved: others may see them from now on."""

    account_id: AccountId


class AccountSensitized(Fact, frozen=True):
    """The media of its posts are shown as sensitive from now on, or no longer."""

    account_id: AccountId


class AccountMoved(Fact, frozen=True):
    """Somebody who lives here is `target_id` from now on, and takes those who follow them along."""

    account_id: AccountId
    target_id: AccountId


class AccountDeleted(Fact, frozen=True):
    """Its owner is gone for good: what was theirs goes too."""

    account_id: AccountId
