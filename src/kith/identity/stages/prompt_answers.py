"""Reading the answer to a question, by its type."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import msgspec

from kith.identity.signups import service as signups
from kith.identity.stages.turn import Challenge
from kith.identity.users.names import complain_email, complain_username

SHOWN_ONLY = {"separator", "static", "alert_info", "alert_warning", "alert_danger"}
SERVERS_OWN = {"hidden", "text_read_only", "text_area_read_only", *SHOWN_ONLY}
MOST_CHARACTERS = 10_000
MOST_FILE_CHARACTERS = 1 << 19


class PromptQuestion(msgspec.Struct, kw_only=True):
    """One question of a form, as it is shown."""

    field_key: str
    label: str
    type: str
    required: bool = False
    placeholder: str = ""
    initial_value: str = ""
    order: int = 0
    sub_text: str = ""
    choices: list[str] | None = None


def read_answer(question: PromptQuestion, given: Any, data: dict[str, Any], challenge: Challenge) -> None:
    type_, key = question.type, question.field_key
    if type_ in SERVERS_OWN:
        data[key] = question.initial_value or question.placeholder
        return
    if type_ == "checkbox":
        data[key] = given in (True, "true", "on", "1", "yes")
        return
    text = given if isinstance(given, str) else "" if given is None else str(given)
    text = text if type_ == "password" else text.strip()
    if not text:
        if question.required:
            challenge.complain(key, "This field is required.", "required")
        data[key] = ""
        return
    limit = MOST_FILE_CHARACTERS if type_ == "file" else MOST_CHARACTERS
    if len(text) > limit or "\0" in text or _has_surrogate(text):
        challenge.complain(key, "This is too long or contains characters that cannot be stored.")
        return
    wrong = _CHECKS.get(type_, _anything)(text, question)
    if wrong is not None:
        challenge.complain(key, wrong)
        return
    if key == signups.REASON and len(text) > signups.MOST_IN_REASON:
        challenge.complain(key, f"Ensure this field has no more than {signups.MOST_IN_REASON} characters.", "too_long")
        return
    data[key] = _number(text) if type_ == "number" else text


def typed_text(question: PromptQuestion, answer: dict[str, Any]) -> str:
    """What was typed and refused, to be mended; nothing of what cannot be shown again."""
    given = answer.get(question.field_key)
    if not isinstance(given, str) or question.type == "file" or len(given) > MOST_CHARACTERS:
        return ""
    return "" if "\0" in given or _has_surrogate(given) else given


def _anything(_text: str, _question: PromptQuestion) -> str | None:
    return None


def _email(text: str, _question: PromptQuestion) -> str | None:
    return complain_email(text)


def _username(text: str, _question: PromptQuestion) -> str | None:
    """Nobody can choose a name with @, so the rule does not allow it either."""
    found = complain_username(text)
    if found is not None and found.code == "invalid":
        return "A user name can have letters, digits and the signs . + - _ only, and no blanks."
    return found


def _is_number(text: str, _question: PromptQuestion) -> str | None:
    return None if re.fullmatch(r"[+-]?\d{1,15}(\.\d{1,10})?", text) else "A valid number is required."


def _date(text: str, _question: PromptQuestion) -> str | None:
    try:
        date.fromisoformat(text)
    except ValueError:
        return "Enter a valid date."
    return None


def _moment(text: str, _question: PromptQuestion) -> str | None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return "Enter a valid date and time."
    return None


def _one_of(text: str, question: PromptQuestion) -> str | None:
    return None if text in (question.choices or ()) else f'"{text[:100]}" is not a valid choice.'


def _file(text: str, _question: PromptQuestion) -> str | None:
    return None if re.match(r"data:[\w.+-]+/[\w.+-]+(;[\w=.+-]+)*,", text) else "Enter a valid file."


_CHECKS: dict[str, Callable[[str, PromptQuestion], str | None]] = {
    "email": _email,
    "username": _username,
    "number": _is_number,
    "date": _date,
    "date-time": _moment,
    "dropdown": _one_of,
    "radio-button-group": _one_of,
    "file": _file,
}


def _number(text: str) -> int | float:
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)
