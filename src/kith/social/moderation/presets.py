"""Texts that the team keeps ready for warnings."""

from __future__ import annotations

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.social.moderation import store
from kith.social.moderation.tables import Preset
from kith.social.staff import Staff, record

LONGEST_TITLE, LONGEST_TEXT = 200, 5000


async def find(work: Work, preset_id: int) -> Preset:
    found = await store.find_preset(work.db, preset_id)
    if found is None:
        raise NotFound
    return found


def _checked(name: str, given: str, most: int, *, may_be_blank: bool = False) -> str:
    text = given.strip()
    if not text and not may_be_blank:
        raise Invalid(fields={name: [Complaint("can't be blank", "blank")]})
    if len(text) > most:
        raise Invalid(fields={name: [Complaint(f"is too long (maximum is {most} characters)", "too_long")]})
    return text


async def create(work: Work, by: Staff, *, title: str, text: str) -> Preset:
    by.check("manage_settings")
    preset = Preset(
        work.new_id(),
        _checked("title", title, LONGEST_TITLE, may_be_blank=True),
        _checked("text", text, LONGEST_TEXT),
        work.now,
    )
    await store.add_preset(work.db, preset)
    await record(work, by, "create_warning_preset", preset={"id": str(preset.id)})
    return preset


async def change(work: Work, by: Staff, preset_id: int, *, title: str | None, text: str | None) -> Preset:
    by.check("manage_settings")
    before = await find(work, preset_id)
    changed = {
        "title": before.title if title is None else _checked("title", title, LONGEST_TITLE, may_be_blank=True),
        "text": before.text if text is None else _checked("text", text, LONGEST_TEXT),
    }
    await store.change(work.db, "preset", preset_id, changed)
    await record(work, by, "update_warning_preset", preset={"id": str(preset_id)})
    return await find(work, preset_id)


async def remove(work: Work, by: Staff, preset_id: int) -> None:
    by.check("manage_settings")
    await find(work, preset_id)
    await store.remove(work.db, "preset", preset_id)
    await record(work, by, "destroy_warning_preset", preset={"id": str(preset_id)})
