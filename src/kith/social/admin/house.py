"""What the team writes about the community: its rules and its pages."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.instance import service, store
from kith.social.instance.tables import Rule
from kith.social.moderation import signups
from kith.social.staff import Staff, record
from kith.social.trends import review as trend_review
from kith.social.trends import store as trends

LONGEST_HINT = 1000
FIXED = ("title", "description", "contact_email", "registrations", "confirm_email", "publish_domain_blocks")


class RuleDraft(msgspec.Struct, kw_only=True):
    """What is left out is as it was."""

    text: str | None = None
    hint: str | None = None
    priority: int | None = None


def _checked(draft: RuleDraft) -> None:
    complaints: dict[str, list[str]] = {}
    if draft.text is not None and not draft.text.strip():
        complaints["text"] = [Complaint("can't be blank", "blank")]
    for name, most in (("text", service.LONGEST_RULE), ("hint", LONGEST_HINT)):
        if len(getattr(draft, name) or "") > most:
            complaints[name] = [Complaint(f"is too long (maximum is {most} characters)", "too_long")]
    if draft.priority is not None and not 0 <= draft.priority <= 1_000_000:
        complaints["priority"] = [Complaint("is invalid")]
    if complaints:
        raise Invalid(fields=complaints)


async def add_rule(work: Work, by: Staff, draft: RuleDraft) -> Rule:
    by.check("manage_rules")
    if draft.text is None:
        raise Invalid(fields={"text": [Complaint("can't be blank", "blank")]})
    _checked(draft)
    rule = await service.add_rule(work, draft.text, draft.hint or "")
    if draft.priority is not None:
        await store.change_rule(work.db, rule.id, {"position": draft.priority})
        rule.position = draft.priority
    await record(work, by, "create_rule", rule={"id": str(rule.id), "text": rule.text})
    return rule


async def find_rule(work: Work, id: int) -> Rule:
    for rule in await store.all_rules(work.db):
        if rule.id == id:
            return rule
    raise NotFound


async def change_rule(work: Work, by: Staff, id: int, draft: RuleDraft) -> Rule:
    by.check("manage_rules")
    _checked(draft)
    rule = await find_rule(work, id)
    values: dict[str, Any] = {
        "text": rule.text if draft.text is None else draft.text.strip(),
        "hint": rule.hint if draft.hint is None else draft.hint.strip(),
        "position": rule.position if draft.priority is None else draft.priority,
    }
    await store.change_rule(work.db, id, values)
    await record(work, by, "update_rule", rule={"id": str(id), "text": values["text"]})
    return await find_rule(work, id)


async def remove_rule(work: Work, by: Staff, id: int) -> None:
    by.check("manage_rules")
    rule = await find_rule(work, id)
    await service.remove_rule(work, id)
    await record(work, by, "destroy_rule", rule={"id": str(id), "text": rule.text})


# Settings


class SettingsForm(msgspec.Struct, kw_only=True):
    """An empty page is taken away; what is left out is as it was. The operator's settings may come back unchanged.

    Where approval came in place of open registrations, `registrations` opens them again.
    """

    title: str | None = None
    description: str | None = None
    contact_email: str | None = None
    registrations: str | None = None
    confirm_email: bool | None = None
    publish_domain_blocks: str | None = None

    extended_description: str | None = None
    privacy_policy: str | None = None
    terms_of_service: str | None = None
    trends: bool | None = None
    trendable_by_default: bool | None = None


async def settings_of(work: Work) -> dict[str, Any]:
    """What the operator has set (and only they can, where the server is started), and the pages."""
    told: dict[str, Any] = {name: getattr(work.settings, name) for name in FIXED}
    told["registrations"] = await identity.signup_mode(work)
    for kind in service.KINDS:
        found = await service.find_page(work, kind)
        told[kind] = "" if found is None else found.text
    switches = await trends.settings(work.db)
    return told | {"trends": switches.enabled, "trendable_by_default": switches.trendable_by_default}


async def write_pages(work: Work, by: Staff, pages: SettingsForm) -> dict[str, Any]:
    by.check("manage_settings")
    mode = await identity.signup_mode(work)
    _refuse_fixed(work, pages, mode)
    if pages.registrations not in (None, mode):
        await signups.reopen(work, by)
    for kind in service.KINDS:
        text = getattr(pages, kind)
        if text is None:
            continue
        if len(text) > service.LONGEST_PAGE:
            words = f"is too long (maximum is {service.LONGEST_PAGE} characters)"
            raise Invalid(fields={kind: [Complaint(words, "too_long")]})
        if text.strip() or await service.find_page(work, kind) is not None:
            await service.write_page(work, kind, text, begins=None)
            await record(work, by, "update_settings", page=kind)
    await trend_review.change_settings(work, by, enabled=pages.trends, by_default=pages.trendable_by_default)
    return await settings_of(work)


def _refuse_fixed(work: Work, given: SettingsForm, mode: str) -> None:
    changed = [name for name in FIXED if getattr(given, name) not in (None, getattr(work.settings, name))]
    changed = [name for name in changed if name != "registrations" or given.registrations != mode]
    if changed:
        complaint = Complaint("can only be changed by the operator, where the server is started")
        raise Invalid(fields={name: [complaint] for name in changed})
