"""What the team writes about the community: its rules and its pages."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.mail import MailRefused, checked_address
from kith.base.mail_words import names_page
from kith.base.stored_settings import STORABLE, store_settings
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.identity import for_staff
from kith.social.instance import service, store
from kith.social.instance.tables import Rule
from kith.social.moderation import signups
from kith.social.staff import Staff, record
from kith.social.trends import review as trend_review
from kith.social.trends import store as trends

LONGEST_HINT = 1000
LONGEST = {"title": 200, "description": 1000, "contact_email": 320}
LONGEST["mail_footer"] = 5000


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


# Whoever says so vouches for the addresses of everybody who joins.
UNCONFIRMED = "can only be turned off by an administrator: people would come in with addresses of others"


class SettingsForm(msgspec.Struct, kw_only=True):
    """An empty page is taken away; what is left out is as it was. The operator's settings may come back unchanged.

    Where approval came in place of open registrations, `registrations` opens them again.
    """

    title: str | None = None
    description: str | None = None
    contact_email: str | None = None
    registrations: Literal["open", "approval", "closed"] | None = None
    confirm_email: bool | None = None
    minimum_age: int | None = None
    mail_footer: str | None = None
    backups: bool | None = None
    publish_peers: bool | None = None
    publish_activity: bool | None = None
    publish_directory: bool | None = None
    publish_domain_blocks: Literal["off", "members", "on"] | None = None

    extended_description: str | None = None
    privacy_policy: str | None = None
    terms_of_service: str | None = None
    trends: bool | None = None
    trendable_by_default: bool | None = None


async def settings_of(work: Work) -> dict[str, Any]:
    """What counts now. `fixed` are those that only the operator can change, where the server is started."""
    told: dict[str, Any] = {name: getattr(work.settings, name) for name in STORABLE}
    told["registrations"] = await identity.signup_mode(work)
    for kind in service.KINDS:
        found = await service.find_page(work, kind)
        told[kind] = "" if found is None else found.text
    switches = await trends.settings(work.db)
    told |= {"trends": switches.enabled, "trendable_by_default": switches.trendable_by_default}
    return told | {"fixed": [name for name in STORABLE if name in work.operator_settings.given]}


async def write_settings(work: Work, by: Staff, given: SettingsForm) -> dict[str, Any]:
    by.check("manage_settings")
    mode = await identity.signup_mode(work)
    changed = _changed(work, given, mode)
    _check_settings(work, changed)
    if changed.get("confirm_email") is False and not await _is_superuser(work, by):
        raise Invalid(fields={"confirm_email": [Complaint(UNCONFIRMED)]})
    if given.registrations not in (None, mode):
        await signups.reopen(work, by)
    if changed:
        before = {name: getattr(work.settings, name) for name in changed}
        await store_settings(work, changed, work.now)
        await record(work, by, "update_settings", before=before, after=changed)
    await _write_pages(work, by, given)
    await trend_review.change_settings(work, by, enabled=given.trends, by_default=given.trendable_by_default)
    return await settings_of(work) | changed


async def _is_superuser(work: Work, by: Staff) -> bool:
    return by.role is None or (by.user_id is not None and await for_staff.is_mighty(work, by.user_id))


async def _write_pages(work: Work, by: Staff, given: SettingsForm) -> None:
    for kind in service.KINDS:
        text = getattr(given, kind)
        if text is None:
            continue
        if len(text) > service.LONGEST_PAGE:
            words = f"is too long (maximum is {service.LONGEST_PAGE} characters)"
            raise Invalid(fields={kind: [Complaint(words, "too_long")]})
        if text.strip() or await service.find_page(work, kind) is not None:
            await service.write_page(work, kind, text, begins=None)
            await record(work, by, "update_settings", page=kind)


def _changed(work: Work, given: SettingsForm, mode: str) -> dict[str, Any]:
    """What is to be another than it is. Where approval stands in for open sign-ups, neither of both is a change."""
    found = {name: value for name in STORABLE if (value := getattr(given, name)) is not None}
    found = {name: value.strip() if isinstance(value, str) else value for name, value in found.items()}
    if found.get("registrations") == mode:
        del found["registrations"]
    return {name: value for name, value in found.items() if value != getattr(work.settings, name)}


def _check_settings(work: Work, changed: dict[str, Any]) -> None:
    fixed = Complaint("can only be changed by the operator, where the server is started")
    wrong: dict[str, list[str]] = {name: [fixed] for name in changed if name in work.operator_settings.given}
    for name, most in LONGEST.items():
        if len(changed.get(name, "")) > most:
            wrong[name] = [Complaint(f"is too long (maximum is {most} characters)", "too_long")]
    if changed.get("title") == "":
        wrong["title"] = [Complaint("can't be blank", "blank")]
    if names_page(changed.get("title", "")):
        wrong["title"] = [Complaint("cannot hold the address of a page: it stands in mails that let people in")]
    if not 0 <= changed.get("minimum_age", 0) <= 120:
        wrong["minimum_age"] = [Complaint("is invalid")]
    if changed.get("contact_email") and not _is_mail(changed["contact_email"]):
        wrong["contact_email"] = [Complaint("is invalid")]
    if wrong:
        raise Invalid(fields=wrong)


def _is_mail(text: str) -> bool:
    try:
        return bool(checked_address(text))
    except MailRefused:
        return False
