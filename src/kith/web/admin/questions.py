"""Forms of records, made from the fields that the API declares: a new kind of record needs no page of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.identity import for_pages as identity
from kith.web.admin.words import lookup
from kith.web.admin.words.first_fields import FIRST
from kith.web.admin.words.spelling import label_of

__all__ = ["Option", "Question", "label_of", "questions", "read_answers"]

_PLACE = re.compile(r"line (?P<line>[0-9]{1,6}), column (?P<column>[0-9]{1,6})")
MOST_SHOWN = 200
LONG = 300  # texts that may be longer get several lines
FEW = 2  # that many fields are not worth hiding
# Texts without a limit that are one line all the same.
_ONE_LINE = frozenset(
    """
    _scope additional_group_dn additional_scopes additional_user_dn audience audience_override background base_dn
    bind_cn branding_favicon branding_logo client_networks consumer_key default_relay_state friendly_name
    group_membership_field group_object_filter icon identifier idp_issuer issuer label meta_icon_url meta_publisher name
    object_field object_uniqueness_field password_field path placeholder public_key saml_name scope_name scopes
    server_uri subject symbol_charset title user_group_membership_field user_membership_attribute user_object_filter
    user_path_template username
    """.split()  # noqa: SIM905 - forty quoted words would hide what it is
)


class Option(msgspec.Struct, frozen=True):
    """`note` tells options of the same words apart."""

    value: str
    words: str
    note: str = ""


class WrongPlace(msgspec.Struct, frozen=True):
    """Where a program is wrong: the line as it is, and a mark below it."""

    line: int
    column: int
    text: str
    mark: str


class Question(msgspec.Struct, kw_only=True):
    """One field of a form: how it is asked, what stands in it, and what is wrong with that."""

    name: str
    label: str
    kind: str
    value: Any = ""
    options: Sequence[Option] = ()
    help: str = ""
    required: bool = False
    errors: Sequence[str] = ()
    is_more: bool = False  # stands behind the fields that most people need
    is_changed: bool = False  # from what it is in a new record
    has_none: bool = True  # of a choice: whether it may be left open

    @property
    def wrong_place(self) -> WrongPlace | None:
        """In a program, the line that an error names."""
        if self.kind != "code":
            return None
        found = next((match for said in self.errors if (match := _PLACE.search(said))), None)
        lines = str(self.value).splitlines()
        if found is None or not 0 < int(found["line"]) <= len(lines):
            return None
        line, column = int(found["line"]), int(found["column"])
        return WrongPlace(line, column, lines[line - 1][:MOST_SHOWN], " " * min(column - 1, MOST_SHOWN) + "^")


def kind_of(field: Any) -> str:
    """How a field is asked for."""
    fields = identity.fields
    for kinds, word in (
        ((fields.Secret,), "secret"),
        ((fields.Expression,), "code"),
        ((fields.Boolean,), "tick"),
        ((fields.Choices,), "choices"),
        ((fields.Choice,), "choice"),
        ((fields.References,), "references"),
        ((fields.Reference,), "reference"),
        ((fields.Integer, fields.Number), "number"),
        ((fields.Object,), "object"),
        ((fields.Moment,), "moment"),
    ):
        if isinstance(field, kinds):
            return word
    if field.name in ("password", "current_password"):
        return "secret"
    most = getattr(field, "most", None)
    is_short = field.name in _ONE_LINE or isinstance(field, (fields.URL, fields.Offset))
    return "lines" if not is_short and (most is None or most > LONG) else "text"


def questions(
    resource: Any,
    record: Mapping[str, Any],
    options: Mapping[str, Sequence[Option]],
    errors: Mapping[str, Sequence[str]],
) -> list[Question]:
    """What most people need, then what else must be answered, then the rest."""
    first = FIRST.get(resource.path, ())
    asked = [
        _question(resource, field, record, options.get(field.name), errors.get(field.name, ()))
        for field in resource.all_fields
        if not field.read_only
    ]
    asked.sort(key=lambda one: first.index(one.name) if one.name in first else len(first) + (not one.required))
    rest = [one for one in asked if first and not one.required and one.name not in first]
    for one in rest:
        one.is_more = len(rest) > FEW
    return asked


def _question(
    resource: Any,
    field: Any,
    record: Mapping[str, Any],
    options: Sequence[Option] | None,
    errors: Sequence[str],
) -> Question:
    kind = kind_of(field)
    start = field.start()
    value = record.get(field.name, msgspec.UNSET)
    if value is msgspec.UNSET:
        value = start
    if kind in ("choice", "choices") and field.choices:
        options = [Option(str(one), lookup.choice_words(resource, field.name, one)) for one in field.choices]
    elif kind == "choices":
        kind = "words"
    elif kind in ("reference", "references") and options is None:
        kind = "text" if kind == "reference" else "words"
    shown = _shown(kind, value)
    return Question(
        name=field.name,
        label=lookup.field_label(resource, field.name),
        kind=kind,
        value=shown,
        options=options or (),
        help=lookup.field_help(resource, field),
        required=field.required and kind != "tick",
        errors=errors,
        is_changed=shown != _shown(kind, start),
        has_none=kind != "choice" or field.null or not start,
    )


def _shown(kind: str, value: Any) -> Any:
    if kind == "object":
        return msgspec.json.format(msgspec.json.encode(value or {}), indent=2).decode()
    if kind in ("choices", "references"):
        return {str(one) for one in value or ()}
    if kind == "words":
        return "\n".join(str(one) for one in value or ())
    if kind == "secret" or value is None:
        return ""
    if kind == "tick":
        return bool(value)
    return str(value)


def read_answers(fields: Sequence[Any], form: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """What was typed, as the API takes it; and what cannot be read as what it should be."""
    values: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    for field in fields:
        if field.read_only:
            continue
        try:
            value = _read(field, form.get(field.name, ""))
        except (msgspec.DecodeError, ValueError, RecursionError):
            errors[field.name] = ["Value must be valid JSON."]
            continue
        if value is not msgspec.UNSET:
            values[field.name] = value
    return values, errors


def _read(field: Any, given: Any) -> Any:
    kind = kind_of(field)
    if kind == "tick":
        return given == "true"
    if kind in ("choices", "references"):
        listed = given if isinstance(given, list) else str(given).splitlines()
        return [_whole(one.strip(), field) for one in listed if isinstance(one, str) and one.strip()]
    text = given.replace("\r\n", "\n") if isinstance(given, str) else ""
    if kind == "secret" and not text:
        return msgspec.UNSET  # stays as it is
    if kind == "object":
        return msgspec.json.decode(text.encode() or b"{}")
    if not text and (field.null or kind in ("number", "reference", "moment")):
        return None if field.null else msgspec.UNSET
    return _whole(text, field) if kind in ("choice", "reference", "number") else text


def _whole(text: str, field: Any) -> Any:
    """Numbers where the field has numbers; what is none is for the API to refuse."""
    is_number = getattr(field, "integer", False) or kind_of(field) == "number"
    choices = getattr(field, "choices", ())
    if (is_number or (choices and isinstance(choices[0], int))) and text.lstrip("-").isdigit() and len(text) < 19:
        return int(text)
    if kind_of(field) == "number":
        try:
            return float(text)
        except ValueError:
            return text
    return text
