"""The texts for people in our own sources: what the catalogues must hold.

Texts stand where they are said: in templates as `_("...")`, in pages as `translatable("...")`, and in the rooms below as
what is handed to the functions and errors that tell people something.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment
from jinja2.ext import extract_from_ast

from kith.base.mail_texts import UNITS
from kith.identity.authority.powers import SPECIAL, power_of
from kith.identity.collections import RESOURCES
from kith.identity.executor import shipped_flows
from kith.identity.providers.oauth2.consent import scope_texts
from kith.social.admin.mail_texts import EVERY
from kith.social.languages import FIELDS, english_label
from kith.social.moderation.mails import SENTENCES
from kith.social.notifications.titles import TITLES
from kith.web.admin.words import lookup
from kith.web.admin.words.events import EVENTS, PLACES
from tests.sources import tree_of

__all__ = ["Text", "shape_of", "texts_of_mails", "texts_of_pages", "texts_of_social_api"]

SOURCES = Path(__file__).parents[1] / "src" / "kith"
PLACEHOLDER = re.compile(r"\{(\w*)\}")

Calls = dict[str, tuple[int, ...]]

_ERRORS: Calls = {
    "Complaint": (0,),
    "Invalid": (0,),
    "Forbidden": (0,),
    "NotFound": (0,),
    "Conflict": (0,),
    "Unavailable": (0,),
}
_FLOWS: Calls = {"Denied": (0,), "complain": (1,), "messages.leave": (2,)}
_OAUTH: Calls = {"Unfit": (0, 1), "ErrorPage": (0, 1), "turn_away": (1,), "Verdict": (1,), "PolicyVerdict": (1,)}

_SOURCES: Calls = {"refused": (2,), "NoAnswer": (1,), "SourceError": (9,), "UserMatch": (3,)}

# Where pages get their texts from, and which arguments of which calls are texts.
_PAGES: tuple[tuple[str, Calls], ...] = (
    ("web/**/*.py", {"translate": (0,), "translatable": (0,), "leave_message": (2,), **_ERRORS}),
    ("identity/access_requests/grants.py", _ERRORS),
    ("identity/access_requests/service.py", _ERRORS),
    ("identity/authority/*.py", {"refuse": (0,)}),
    ("identity/executor/*.py", _FLOWS | _ERRORS),
    ("identity/stages/**/*.py", _FLOWS),
    ("identity/account_settings/*.py", _FLOWS | _ERRORS),
    ("identity/users/collection.py", {"messages.leave": (2,)}),
    ("social/archives/tasks.py", {"leave_message": (2,)}),
    ("identity/recovery.py", _FLOWS | _ERRORS),
    ("identity/staff.py", _ERRORS),
    ("identity/impersonation/service.py", _ERRORS),
    ("identity/signups/*.py", _FLOWS | _ERRORS),
    ("identity/factors/*.py", _ERRORS),
    ("identity/users/names.py", _ERRORS),
    ("identity/users/service.py", _ERRORS),
    ("identity/providers/oauth2/authorize/*.py", _OAUTH),
    ("identity/providers/oauth2/access/*.py", _OAUTH),
    ("identity/providers/sign_on/access.py", {"sentence": (0,)}),
    ("identity/policies/kinds/geoip.py", {}),
    ("identity/sources/*.py", _SOURCES | _FLOWS | _ERRORS),
    ("identity/sources/oauth/*.py", _SOURCES),
    ("identity/sources/ldap/passwords.py", _SOURCES),
    *(
        (f"identity/gateway/{name}.py", {**_ERRORS, "NotSignedIn": (0,), "Unauthenticated": (0,), "Malformed": (0,)})
        for name in ("door", "logins", "proxy", "questions", "signing_in")
    ),
    ("base/errors.py", _ERRORS),
    ("base/csrf.py", _ERRORS),
)
# Where errors of the social API are raised, and by what. What only commands say is not among it.
_SOCIAL = (
    "social/**/*.py",
    "federation/addresses.py",
    "federation/block_lists/*.py",
    "federation/relays/*.py",
    "base/params/*.py",
    "base/server/*.py",
    "base/errors.py",
    "base/edge.py",
    "base/exchange/exchange.py",
    "base/exchange/incoming.py",
    "identity/registration/*.py",
    "identity/users/reserved_names.py",
    "app.py",
)
_ONLY_COMMANDS = {"social/instance/service.py"}
_SOCIAL_ERRORS = {
    "Complaint", "wrong", "_wrong", "_full", "Invalid", "Forbidden", "NotFound", "Unauthenticated", "Unprocessable",
    "Malformed", "BadBlockList", "RefusedFile", "RelationshipRefused", "UnreadableRequest", "BadFile", "CannotAttach", "Problem", "Conflict", "_refused", "UnsupportedMedia",
    "MethodNotAllowed", "Unavailable", "Throttled", "TooLarge",
}  # fmt: skip
# Texts of the social API that are put together from several places.
_SOCIAL_ELSEWHERE = (
    "Internal Server Error",
    "Post would be sent to unexpected accounts",
    "Ensure this field has no more than 150 characters.",
    "Ensure this field has no more than 254 characters.",
    "{kind} of more than {count} frames are not supported",
    "param is missing or the value is empty or invalid: {name}",
)


# Texts that earlier versions wrote into the database (as labels and names of flows) and that may still be there.
_STORED_EARLIER = ("Password, again", "Make recovery codes")


class Made(str):
    """A text whose values are filled in where it is said; the catalogue's text is matched with it afterwards."""

    __slots__ = ()


class Text(NamedTuple):
    """An English text and where it stands. `plural` is empty where nothing is counted."""

    text: str
    plural: str = ""
    context: str = ""
    place: str = ""


def shape_of(text: str) -> str:
    """The text without the names of its placeholders, which differ between code and catalogue."""
    return PLACEHOLDER.sub("{}", text)


def _files(pattern: str) -> list[Path]:
    """At least one: a folder that got another name must not lose its texts."""
    found = sorted(SOURCES.glob(pattern))
    if not found:
        raise LookupError(f"no source is called {pattern}")
    return found


# Pages


@cache
def texts_of_pages() -> list[Text]:
    found = [*_in_templates(), *_in_default_flows(), *_in_records()]
    for pattern, calls in _PAGES:
        for path in _files(pattern):
            place = path.relative_to(SOURCES).as_posix()
            found += [
                Text(str(text), context="finished" if isinstance(text, Made) else "", place=place)
                for text in _said_in(tree_of(path), calls)
            ]
    return _without_doubles(found)


def _in_templates() -> Iterator[Text]:
    environment = Environment(autoescape=True)
    for path in sorted((SOURCES / "web" / "templates").rglob("*.html")):
        place = path.relative_to(SOURCES).as_posix()
        for _line, name, said in extract_from_ast(environment.parse(path.read_text()), ["_", "_n"]):
            texts = [text for text in (said if isinstance(said, tuple) else (said,)) if isinstance(text, str)]
            if texts:
                yield Text(texts[0], texts[1] if name == "_n" else "", place=place)


def _in_default_flows() -> Iterator[Text]:
    """What the flows that come with Kith are called and ask, and what applications ask to be allowed to do."""
    place = "identity/executor/shipped_flows.py"
    yield from (Text(str(values["name"]), place=place) for values, _ in shipped_flows.FLOWS.values())
    for prompt in shipped_flows.PROMPTS.values():
        yield from (Text(str(prompt[key]), place=place) for key in ("label", "sub_text") if key in prompt)
    for policy in shipped_flows.PASSWORD_POLICIES.values():
        yield Text(str(policy["error_message"]), place=place)
    yield from (Text(text, place=place) for text in _STORED_EARLIER)
    place = "identity/providers/oauth2/consent/scope_texts.py"
    yield from (Text(words, place=place) for words in scope_texts.WORDS.values())


def _in_records() -> Iterator[Text]:
    """What the console says of the records of the identity API: names, labels, helps, and what can be chosen."""
    for resource in RESOURCES:
        name = lookup.name_of(resource)
        yield from (
            Text(words, place="web/admin/words/names.py") for words in (name.one, name.many, name.about) if words
        )
        names = ["pk", resource.key, *resource.times, *(field.name for field in resource.all_fields)]
        yield from (Text(lookup.field_label(resource, one), place="web/admin/words/labels") for one in names)
        for field in resource.all_fields:
            if not field.read_only and (help := lookup.field_help(resource, field)):
                yield Text(help, place="web/admin/words/helps")
            for value in getattr(field, "choices", ()):
                words = lookup.choice_words(resource, field.name, value)
                yield Text(words, place="web/admin/words/choices.py")
    yield from (Text(words, place="web/admin/words/events.py") for words in (*EVENTS.values(), *PLACES.values()))
    powers = [*(power_of(resource).leads_to for resource in RESOURCES), *SPECIAL.values()]
    yield from (Text(words, place="identity/authority/powers.py") for words in powers)


def _said_in(tree: ast.Module, calls: Calls) -> Iterator[str]:
    """Arguments of these calls, constants that hold a sentence, and sentences that functions return."""
    known = _assigned(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=function, args=arguments, keywords=keywords):
                whole = ast.unparse(function)
                if whole == "draft.complain":
                    continue  # told to a program, by the API
                places = calls.get(whole) or calls.get(whole.rpartition(".")[2]) or ()
                given = [arguments[place] for place in places if place < len(arguments)]
                given += [one.value for one in keywords if places and one.arg in ("title", "messages", "message")]
                is_marked = whole == "translatable"  # then it is for people, even if it is a single word
                for one in given:
                    yield from (text for text in _texts_in(one, known) if is_marked or _is_for_people(text))
            case ast.Return(value=ast.expr() as value):
                yield from (text for text in _texts_in(value, {}) if _is_sentence(text))
            case ast.For(iter=ast.BoolOp(values=[*_, ast.List() as value])):
                yield from (text for text in _texts_in(value, {}) if _is_sentence(text))
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value) if name.isupper() or name in (
                "message",
                "words",
            ):
                yield from (text for text in _texts_in(value, {}) if _is_text(text))
            case ast.Assign(targets=[ast.Subscript()], value=ast.List() as value):
                yield from (text for text in _texts_in(value, {}) if _is_sentence(text))


def _is_for_people(text: str) -> bool:
    """Not what only commands say, codes such as `access_denied`, or what consists of values."""
    return "`kith " not in text and " " in PLACEHOLDER.sub("", text).strip()


def _is_text(text: str) -> bool:
    return " " in text and text[0].isupper() and "{" not in text


def _is_sentence(text: str) -> bool:
    return _is_text(text) and text.endswith((".", "!"))


# The social API


@cache
def texts_of_social_api() -> list[Text]:
    found = [Text(text, place="social/errors.py") for text in _SOCIAL_ELSEWHERE]
    for pattern in _SOCIAL:
        for path in _files(pattern):
            place = path.relative_to(SOURCES).as_posix()
            if place not in _ONLY_COMMANDS:
                tree = tree_of(path)
                found += [Text(one, many, place=place) for one, many in _counted_in(tree)]
                found += [Text(text, place=place) for text in _errors_in(tree, path.name)]
    counted = {shape_of(one.plural) for one in found if one.plural}
    found = [one for one in found if one.plural or not (shape_of(one.text) in counted or _is_covered(one.text))]
    found += [Text(text, place="social/notifications/titles.py") for text in TITLES.values()]
    labels = [Text(english_label(name), context="field", place="social/languages.py") for name in FIELDS]
    return _without_doubles([*found, *labels])


# Mails


@cache
def texts_of_mails() -> list[Text]:
    found = [Text(one, many, place="base/mail_texts.py") for one, many in UNITS.values()]
    found += [Text(text, place=f"mail {one.name}") for one in EVERY for text in (one.subject, one.body)]
    found += [Text(text, place="social/moderation/mails.py") for text in SENTENCES.values()]
    # What is the same in every language is no text.
    return _without_doubles(one for one in found if PLACEHOLDER.sub("", one.text).strip())


def _is_covered(text: str) -> bool:
    """Whether it is one of the texts above with something put into it."""
    patterns = [re.sub(r"\\{\w+\\}", ".+", re.escape(one)) for one in _SOCIAL_ELSEWHERE]
    return text not in _SOCIAL_ELSEWHERE and any(re.fullmatch(pattern, text) for pattern in patterns)


def _counted_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="counted"), args=[ast.Constant(value=one), ast.Constant(value=many), *_]):
                yield str(one), str(many)


def _errors_in(tree: ast.Module, name: str) -> Iterator[str]:
    known = _assigned(tree)
    texts: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _SOCIAL_ERRORS:
            keywords = [one.value for one in node.keywords if one.arg not in ("fields", "headers", "extra")]
            for given in (*node.args[:1], *keywords):
                texts += _texts_in(given, known)
        elif isinstance(node, ast.Call) and name == "poll.py" and ast.unparse(node.func) == "complaints.append":
            [pair] = node.args  # complaints that are gathered before they are raised
            assert isinstance(pair, ast.Tuple)
            texts += _texts_in(pair.elts[1], {})
    for value in known.get("message", ()):
        texts += _texts_in(value, known)
    yield from (text for text in texts if " " in text or text[:1].isupper())


# Both


def _assigned(tree: ast.Module) -> dict[str, list[ast.expr]]:
    known: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                known.setdefault(name, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                known.setdefault(name, []).append(value)
    return known


def _texts_in(node: ast.expr, known: dict[str, list[ast.expr]]) -> Iterator[str]:
    """Texts with `{name}` for each value that is put into them; names are followed within a file."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield Made(
                "".join(str(one.value) if isinstance(one, ast.Constant) else _placeholder(one) for one in values)
            )
        case ast.IfExp(body=body, orelse=orelse):
            yield from _texts_in(body, known)
            yield from _texts_in(orelse, known)
        case ast.BoolOp(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
            for value in values:
                yield from _texts_in(value, known)
        case ast.Name(id=name):
            rest = {other: values for other, values in known.items() if other != name}
            for value in known.get(name, ()):
                yield from _texts_in(value, rest)


def _placeholder(node: ast.expr) -> str:
    """Named like the last part of the expression: `{limits.count}` is `{count}`."""
    names = re.findall(r"[a-zA-Z_]+", ast.unparse(node.value)) if isinstance(node, ast.FormattedValue) else []
    return f"{{{names[-1].lower() if names else 'value'}}}"


def _without_doubles(texts: Iterable[Text]) -> list[Text]:
    """The first of each; one that is counted goes before the same text alone."""
    kept: dict[tuple[str, str], Text] = {}
    for one in texts:
        key = one.context, shape_of(one.text)
        if key not in kept or (one.plural and not kept[key].plural):
            kept[key] = one
    return list(kept.values())
