"""/stages/prompt/prompts/: the questions of prompt stages."""

from __future__ import annotations

import asyncio
from datetime import datetime

from sqlalchemy import Column

from kith.base.db import UID
from kith.identity.expressions.syntax import complain
from kith.identity.rest import RecordDraft, Resource, record_table
from kith.identity.rest.fields import Boolean, Choice, Integer, Text
from kith.identity.rest.record import Record

TYPES = (
    "text", "text_area", "text_read_only", "text_area_read_only", "username", "email", "password", "number",
    "checkbox", "radio-button-group", "dropdown", "date", "date-time", "file", "separator", "hidden", "static",
    "alert_info", "alert_warning", "alert_danger", "locale",
)  # fmt: skip

FIELDS = (
    Text(
        name="field_key",
        required=True,
        most=50,
        pattern=r"[-a-zA-Z0-9_]+(\.[-a-zA-Z0-9_]+)*",
        refusal="Enter a valid 'slug' consisting of letters, numbers, underscores or hyphens.",
        help="The answer's name; with dots it reaches into a person's attributes.",
    ),
    Text(name="label", required=True),
    Choice(name="type", required=True, choices=TYPES, also={"data": "date", "data-time": "date-time"}),
    Boolean(name="required", default=True),
    Text(name="placeholder", required=True, trim=False, private=True),
    Integer(name="order", default=0),
    Text(name="name", null=True, default=None, blank=False, unique=True, most=255),
    Text(name="initial_value", default="", trim=False, private=True),
    Text(name="sub_text", default=""),
    Boolean(name="placeholder_expression", default=False, help="The placeholder is worked out, not shown as it is."),
    Boolean(name="initial_value_expression", default=False),
)


class PromptRecord(Record, kw_only=True):
    pk: str
    prompt_uuid: str
    field_key: str
    label: str
    type: str
    required: bool
    placeholder: str
    order: int
    name: str | None
    initial_value: str
    sub_text: str
    placeholder_expression: bool
    initial_value_expression: bool
    created: datetime
    last_updated: datetime


prompts = record_table("identity_prompts", Column("prompt_uuid", UID, primary_key=True), fields=FIELDS)


async def check(draft: RecordDraft[PromptRecord]) -> None:
    for name in ("placeholder", "initial_value"):
        if draft.value(f"{name}_expression") and (draft.sets(name) or draft.sets(f"{name}_expression")):
            wrong = await asyncio.to_thread(complain, draft.value(name)) if draft.value(name) else None
            if wrong is not None:
                draft.complain(name, f"Expression Syntax Error: {wrong}", "syntax")


RESOURCE = Resource(
    path="/stages/prompt/prompts/",
    name="Prompt",
    record=PromptRecord,
    key="prompt_uuid",
    table=prompts,
    fields=FIELDS,
    search=("field_key", "name", "label", "type", "placeholder"),
    order=("order", "field_key"),
    exact=("field_key", "name", "label", "type", "required", "order", "placeholder"),
    label="field_key",
    ahead=check,
)
