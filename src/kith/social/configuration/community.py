"""What the community says of itself: settings, rules, pages and announcements."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, ClassVar, Literal

import msgspec

from kith.base.errors import Complaint, Invalid
from kith.base.stored_settings import STORABLE, effective, read_stored
from kith.base.work import Work
from kith.identity.for_configuration import BadBlueprint, BlueprintRun, StoredValues, Values
from kith.social.admin import house
from kith.social.announcements import publishing
from kith.social.announcements import store as announcements
from kith.social.announcements.tables import Announcement
from kith.social.configuration.listed import ListedModel
from kith.social.instance import service
from kith.social.instance import store as instance
from kith.social.staff import Staff, record
from kith.social.trends import store as trends

__all__ = ["AnnouncementModel", "PageModel", "RuleModel", "SettingsModel"]

_FORM: dict[str, Any] = {field.name: field.type for field in msgspec.structs.fields(house.SettingsForm)}


class SettingsModel(ListedModel):
    """There is one record of it, so it needs no identifiers."""

    name, file, permission, key = "instance.settings", "a0-community", "manage_settings", ()
    fields: ClassVar[dict[str, Any]] = {name: _FORM[name] for name in (*STORABLE, "trends", "trendable_by_default")}

    async def known(self, work: Work) -> list[StoredValues]:
        settings = effective(work.operator_settings, await read_stored(work.db))
        values: Values = {name: getattr(settings, name) for name in STORABLE}
        switches = await trends.settings(work.db)
        values |= {"trends": switches.enabled, "trendable_by_default": switches.trendable_by_default}
        return [StoredValues("settings", values)]

    async def every(self, work: Work) -> list[StoredValues]:
        """Without what is fixed where the server is started."""
        [found] = await self.known(work)
        fixed = work.operator_settings.given
        values = {name: value for name, value in found.values.items() if name not in fixed}
        return [StoredValues(found.pk, values)]

    async def change(self, run: BlueprintRun, by: Staff, _stored: StoredValues, values: Values) -> None:
        fixed = [name for name in values if name in run.work.operator_settings.given]
        for name in fixed:
            run.warn(f"{name} is fixed where the server is started, so it stays as it is")
            del values[name]
        await house.write_settings(run.work, by, house.SettingsForm(**values))

    async def delete(self, _run: BlueprintRun, _by: Staff, _stored: StoredValues) -> None:
        raise BadBlueprint("settings cannot be deleted")


class RuleModel(ListedModel):
    name, file, permission, key = "instance.rule", "a0-community", "manage_rules", ("text",)
    fields: ClassVar[dict[str, Any]] = {"text": str, "hint": str, "priority": int}

    async def every(self, work: Work) -> list[StoredValues]:
        rules = await instance.all_rules(work.db)
        return [StoredValues(one.id, {"text": one.text, "hint": one.hint, "priority": one.position}) for one in rules]

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        return (await house.add_rule(run.work, by, house.RuleDraft(**values))).id

    async def change(self, run: BlueprintRun, by: Staff, stored: StoredValues, values: Values) -> None:
        await house.change_rule(run.work, by, stored.pk, house.RuleDraft(**values))

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        await house.remove_rule(run.work, by, stored.pk)


class PageModel(ListedModel):
    """The privacy policy, the terms (from a day on) and the long description; HTML stays as it is."""

    name, file, permission = "instance.page", "a0-community", "manage_settings"
    key = ("kind", "effective_date")
    fields: ClassVar[dict[str, Any]] = {
        "kind": Literal["extended_description", "privacy_policy", "terms_of_service"],
        "effective_date": str,
        "text": str,
        "changelog": str,
    }

    def natural(self, values: Values) -> tuple[str, ...]:
        return self.key if values.get("effective_date") else ("kind",)

    async def every(self, work: Work) -> list[StoredValues]:
        found = []
        for kind in service.KINDS:
            for page in await instance.pages_of(work.db, kind):
                values = {"kind": kind, "effective_date": page.effective_date, "text": page.text}
                found.append(StoredValues((kind, page.effective_date), values | {"changelog": page.changelog}))
        return found

    async def update(self, run: BlueprintRun, stored: StoredValues, attrs: Values) -> StoredValues:
        if isinstance(attrs.get("text"), str):
            attrs = attrs | {"text": service.page_html(run.work, attrs["text"])}
        return await super().update(run, stored, attrs)

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        values = {"effective_date": ""} | values
        if (values["kind"] == "terms_of_service") is not bool(values["effective_date"]):
            raise BadBlueprint("effective_date: the terms need a day from which on they hold, other pages have none")
        await self._write(run, by, values)
        return values["kind"], values["effective_date"]

    async def _write(self, run: BlueprintRun, by: Staff, values: Values) -> None:
        try:
            begins = date.fromisoformat(values["effective_date"]) if values["effective_date"] else None
        except ValueError:
            raise BadBlueprint("effective_date: this is no day, such as 2030-01-31") from None
        if not str(values.get("text") or "").strip():
            raise Invalid(fields={"text": [Complaint("can't be blank", "blank")]})
        changelog = values.get("changelog", "")
        await service.write_page(run.work, values["kind"], values["text"], begins=begins, changelog=changelog)
        await record(run.work, by, "update_settings", page=values["kind"])

    async def change(self, run: BlueprintRun, by: Staff, stored: StoredValues, values: Values) -> None:
        await self._write(run, by, stored.values | values)

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        await instance.remove_page(run.work.db, *stored.pk)
        await record(run.work, by, "update_settings", page=stored.pk[0])


class AnnouncementModel(ListedModel):
    """What is over is not exported. One that is not published stays so until its time or somebody publishes it."""

    name, file, permission = "social.announcement", "a0-community", "manage_announcements"
    key = ("text",)
    fields: ClassVar[dict[str, Any]] = {
        "text": str,
        "all_day": bool,
        "starts_at": datetime | None,
        "ends_at": datetime | None,
        "scheduled_at": datetime | None,
        "published": bool,
    }

    async def known(self, work: Work) -> list[StoredValues]:
        return [self._values(one) for one in await announcements.every(work.db)]

    async def every(self, work: Work) -> list[StoredValues]:
        return [self._values(one) for one in await announcements.every(work.db) if not one.is_over(work.now)]

    def _values(self, one: Announcement) -> StoredValues:
        return StoredValues(one.id, {name: getattr(one, name) for name in self.fields})

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        published = values.pop("published", None)
        made = await publishing.create(run.work, by, publishing.AnnouncementDraft(**values))
        if published is False and made.published:
            await publishing.unpublish(run.work, by, made.id)
        return made.id

    async def change(self, run: BlueprintRun, by: Staff, stored: StoredValues, values: Values) -> None:
        published = values.pop("published", None)
        if values:
            await publishing.change(run.work, by, stored.pk, publishing.AnnouncementDraft(**values))
        if published is not None:
            act = publishing.publish if published else publishing.unpublish
            await act(run.work, by, stored.pk)

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        await publishing.remove(run.work, by, stored.pk)
