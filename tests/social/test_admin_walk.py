"""A day of the team with Mastodon.py, a library that other people wrote for another server."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from mastodon import Mastodon, MastodonAPIError, MastodonNotFoundError

from tests.conftest import TownBuilder
from tests.social.members import Member, join_all, stranger
from tests.social.posts import post, settle
from tests.social.staff import employ
from tests.social.tokens import new_app

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


async def test_accounts_are_found_let_in_and_dealt_with_by_a_library(new_town: TownBuilder) -> None:
    town = await new_town(registrations="approval", confirm_email="off")
    owner, (bob,) = await employ(town, "owner"), await join_all(town, 1)
    far = await stranger(town, "far.example")
    app = await new_app(town, "read write")
    headers = {"Authorization": f"Bearer {await app.token('read write')}"}
    for name in ("wanted", "unwanted"):
        sent = {
            "username": name, "email": f"{name}@example.org", "password": "correct horse", "agreement": True,
            "locale": "en", "reason": f"I am {name}",
        }  # fmt: skip
        assert (await town.http.post("/api/v1/accounts", json=sent, headers=headers)).status_code == 200
    await settle(town)
    boss = await _client(owner)

    def walk() -> None:
        listed: Any = boss.admin_accounts_v1(status="pending")  # of which the library makes plain dictionaries
        waiting = {one["username"]: one for one in listed}
        assert {one["invite_request"] for one in waiting.values()} == {"I am wanted", "I am unwanted"}
        assert boss.admin_account_approve(waiting["wanted"]["id"]).approved is True
        boss.admin_account_reject(waiting["unwanted"]["id"])
        assert boss.admin_accounts_v2(status="pending") == []
        listed = boss.admin_accounts_v1(remote=True)
        assert [one["domain"] for one in listed] == ["far.example"]
        assert [one.id for one in boss.admin_accounts_v2(origin="remote", by_domain="far.example")] == [str(far.id)]
        listed = boss.admin_accounts_v1(staff_only=True)
        assert [one["username"] for one in listed] == [owner.name]
        assert [one.username for one in boss.admin_accounts_v2(role_ids=["3"])] == [owner.name]
        assert [one.username for one in boss.admin_accounts_v2(email="wanted@")] == ["wanted"]
        seen: list[str] = []
        page: Any = boss.admin_accounts_v2(origin="local", limit=1)
        while page:
            seen += [one.username for one in page]
            page = boss.admin_accounts_v2(origin="local", limit=1, max_id=page[-1].id)
        assert sorted(seen) == sorted([owner.name, bob.name, "wanted"])
        for action, back, flag in (
            ("disable", boss.admin_account_enable, "disabled"),
            ("sensitive", boss.admin_account_unsensitive, "sensitized"),
        ):
            boss.admin_account_moderate(bob.id, action=action, send_email_notification=False)
            assert boss.admin_account(bob.id)[flag] is True
            assert back(bob.id)[flag] is False
        boss.admin_account_moderate(bob.id, action="suspend")
        boss.admin_account_delete(bob.id)
        with pytest.raises(MastodonNotFoundError):
            boss.admin_account(bob.id)

    await asyncio.to_thread(walk)


async def test_whatever_is_kept_out_is_kept_with_a_library(new_town: TownBuilder) -> None:
    town = await new_town()
    owner, (ada, bob) = await employ(town, "owner"), await join_all(town, 2)
    boss, member = await _client(owner), await _client(ada)

    def walk() -> None:
        allowed: Any = boss.admin_create_domain_allow("near.example")
        assert boss.admin_domain_allow(allowed.id).domain == "near.example"
        assert [one.id for one in boss.admin_domain_allows()] == [allowed.id]
        boss.admin_delete_domain_allow(allowed.id)
        assert boss.admin_domain_allows() == []
        mail: Any = boss.admin_create_email_domain_block("mail.example")
        assert len(boss.admin_email_domain_block(mail.id).history) == 7
        address: Any = boss.admin_create_canonical_email_block(email="E.ve+spam@example.org")
        assert boss.admin_canonical_email_block(address.id).canonical_email_hash == address.canonical_email_hash
        assert [one.id for one in boss.admin_test_canonical_email_block("eve@example.org")] == [address.id]
        assert [one.id for one in boss.admin_canonical_email_blocks()] == [address.id]
        boss.admin_delete_canonical_email_block(address.id)
        assert boss.admin_test_canonical_email_block("eve@example.org") == []
        network: Any = boss.admin_create_ip_block("10.1.2.3", "sign_up_block", comment="spam", expires_in=3600)
        assert (network.ip, network.severity, network.expires_at is None) == ("10.1.2.3/32", "sign_up_block", False)
        assert boss.admin_update_ip_block(network.id, severity="no_access").severity == "no_access"
        assert boss.admin_ip_block(network.id).comment == "spam"
        assert [one.id for one in boss.admin_ip_blocks()] == [network.id]
        boss.admin_delete_ip_block(network.id)
        block: Any = boss.admin_create_domain_block("far.example", severity="suspend", obfuscate=True)
        assert boss.admin_domain_blocks(block.id).obfuscate is True
        with pytest.raises(MastodonAPIError):
            boss.admin_create_domain_block("far.example", severity="silence")

        made: Any = member.report(bob.id, comment="rude")
        assert boss.admin_report(made.id).comment == "rude"
        assert [one.id for one in boss.admin_reports(target_account_id=bob.id)] == [made.id]
        assert boss.admin_reports(resolved=True) == []
        now = datetime.now(UTC)
        figures: Any = boss.admin_measures(
            now - timedelta(days=1), now, active_users=True, new_users=True, interactions=True, opened_reports=True,
            resolved_reports=True, tag_uses=1, instance_accounts="far.example", instance_statuses="far.example",
        )  # fmt: skip
        assert {one.key: one.total for one in figures}["opened_reports"] == "1"
        assert len(figures) == 8
        parts: Any = boss.admin_dimensions(
            now - timedelta(days=1), now, languages=True, sources=True, servers=True, space_usage=True,
            tag_languages=1, instance_accounts="far.example",
        )  # fmt: skip
        assert [one.key for one in parts][:2] == ["languages", "sources"]
        assert boss.admin_retention(now - timedelta(days=40), now, frequency="month")[0].frequency == "month"

    await asyncio.to_thread(walk)
