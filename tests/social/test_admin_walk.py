"""A day of the team with Mastodon.py, a library that other people wrote for another server."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from mastodon import Mastodon, MastodonAPIError

from tests.conftest import TownBuilder
from tests.social.members import Member, join_all, stranger
from tests.social.posts import post, settle
from tests.social.staff import employ

pytestmark = pytest.mark.filterwarnings("ignore:Mastodon version is detected:UserWarning")


async def _client(member: Member) -> Mastodon:
    return await asyncio.to_thread(Mastodon, access_token=member.token, api_base_url=member.town.base_url)


async def test_the_team_works_with_a_library(new_town: TownBuilder) -> None:
    town = await new_town()
    owner, (ada, bob) = await employ(town, "owner"), await join_all(town, 2)
    await stranger(town, "far.example")
    said = await post(bob, "rude")
    await settle(town)
    boss, member = await _client(owner), await _client(ada)

    def walk() -> None:
        made: Any = member.report(bob.id, status_ids=[said["id"]], comment="he is rude", category="spam")
        assert (made.category, made.target_account.username) == ("spam", bob.name)
        [found] = boss.admin_reports()
        assert (found.id, found.account.username, found.statuses[0].id) == (made.id, ada.name, said["id"])
        assert boss.admin_report_assign(found).assigned_account.username == owner.name
        assert boss.admin_report_unassign(found).assigned_account is None
        boss.admin_account_moderate(bob.id, action="silence", report_id=found.id, text="be kind")
        assert boss.admin_reports() == []
        assert boss.admin_report_reopen(found).action_taken is False
        assert boss.admin_report_resolve(found).action_taken is True
        assert boss.admin_account(bob.id).silenced is True
        assert boss.admin_account_unsilence(bob.id).silenced is False
        boss.admin_account_moderate(bob.id, action="suspend")
        assert [one.username for one in boss.admin_accounts_v2(status="suspended")] == [bob.name]
        assert boss.admin_account_unsuspend(bob.id).suspended is False
        with pytest.raises(MastodonAPIError):
            boss.admin_account_unsuspend(bob.id)

        block: Any = boss.admin_create_domain_block("far.example", severity="silence", public_comment="spam")
        assert block.severity == "silence"
        assert boss.admin_update_domain_block(block.id, severity="suspend").severity == "suspend"
        assert [one.domain for one in boss.admin_domain_blocks()] == ["far.example"]
        boss.admin_delete_domain_block(block.id)
        mail: Any = boss.admin_create_email_domain_block("mail.example")
        assert boss.admin_email_domain_blocks()[0].domain == "mail.example"
        boss.admin_delete_email_domain_block(mail.id)

        now = datetime.now(UTC)
        span = (now - timedelta(days=3), now)
        [figures] = boss.admin_measures(*span, new_users=True)
        assert figures.total == "3"
        assert boss.admin_retention(*span, frequency="day")[-1].frequency == "day"
        assert {one.key for one in boss.admin_dimensions(*span, software_versions=True)} == {"software_versions"}

    await asyncio.to_thread(walk)
