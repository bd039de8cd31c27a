"""Ids, told apart by what they name: an account's is never taken for a status's or a user's."""

from __future__ import annotations

from typing import NewType

from kith.base.ids import UserId

__all__ = ["AccountId", "StatusId", "UserId"]

AccountId = NewType("AccountId", int)
StatusId = NewType("StatusId", int)
