"""Reads a blueprint from YAML: only plain values and the known tags, within limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any

import msgspec

from kith.identity.blueprints import tags
from kith.identity.blueprints.tags import BadBlueprint, BlueprintTag

if TYPE_CHECKING:
    import yaml

__all__ = ["FROM_API", "FROM_DISK", "Blueprint", "BlueprintEntry", "ReadLimits", "read_blueprint"]

LONGEST_NUMBER = 100  # one of base 60 (`1:20:30`) takes the square of its length to read
STATES = ("present", "created", "must_created", "absent")
_FIELDS = frozenset({"model", "state", "conditions", "identifiers", "id", "attrs", "permissions"})
_TOP = frozenset({"version", "metadata", "context", "entries"})
_MODES = ("AND", "OR", "NAND", "NOR", "XOR", "XNOR")
_YAML = "tag:yaml.org,2002:"


class ReadLimits(msgspec.Struct, frozen=True):
    bytes: int
    values: int  # after aliases are written out
    depth: int = 40
    aliases: int = 200
    entries: int = 20_000  # all of them are one transaction


FROM_DISK = ReadLimits(bytes=64 << 20, values=2_000_000)
FROM_API = ReadLimits(bytes=1 << 20, values=100_000, entries=1_000)


class BlueprintEntry(msgspec.Struct, frozen=True, kw_only=True):
    """`line` is where it stands in its file."""

    model: str
    line: int
    id: str = ""
    state: Any = "present"
    conditions: tuple[Any, ...] = ()
    identifiers: dict[str, Any] = {}
    attrs: dict[str, Any] = {}
    permissions: tuple[Any, ...] = ()


class Blueprint(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    labels: dict[str, str]
    context: dict[str, Any]
    entries: tuple[BlueprintEntry, ...]


def read_blueprint(text: str | bytes, limits: ReadLimits = FROM_DISK) -> Blueprint:
    """Raises `BadBlueprint` for whatever is not one."""
    root = _Builder(limits).build(_decoded(text, limits))
    if not isinstance(root, _Mapping):
        raise BadBlueprint("a blueprint is a mapping with `version: 1` and `entries`")
    _only(root, _TOP, "a blueprint")
    if root.get("version", 1) not in (1, "1"):
        raise BadBlueprint(f"this version of blueprints is not known: {str(root['version'])[:50]}")
    metadata = _mapping(root.get("metadata"), "metadata")
    labels = _mapping(metadata.get("labels"), "labels")
    entries = root.get("entries")
    if entries is None:
        entries = []
    if not isinstance(entries, list):
        raise BadBlueprint("`entries` must be a list")
    if len(entries) > limits.entries:
        raise BadBlueprint(f"there are more than {limits.entries} entries")
    read = tuple(_entry(one) for one in entries)
    seen: set[str] = set()
    for one in read:
        if one.id and one.id in seen:
            raise BadBlueprint(f"two entries have the id {one.id[:100]!r}")
        seen.add(one.id)
    return Blueprint(
        name=str(metadata.get("name") or "")[:300],
        labels={key: str(value)[:300] for key, value in labels.items()},
        context=dict(_mapping(root.get("context"), "context")),
        entries=read,
    )


def _decoded(text: str | bytes, limits: ReadLimits) -> str:
    if len(text) > limits.bytes:
        raise BadBlueprint(f"the file is larger than {limits.bytes >> 20} MB")
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8-sig")
        decoded.encode()
    except UnicodeError:
        raise BadBlueprint("the file is not UTF-8 text") from None
    return decoded


class _Mapping(dict[str, Any]):
    """As it was read; `line` is for messages."""

    line = 0


def _only(found: _Mapping, known: frozenset[str], what: str) -> None:
    for name in found:
        if name not in known:
            raise BadBlueprint(f"line {found.line}: {what} has no `{name[:50]}`")


def _mapping(value: Any, name: str) -> _Mapping:
    if value is None:
        return _Mapping()
    if not isinstance(value, _Mapping):
        raise BadBlueprint(f"`{name}` must be a mapping")
    return value


def _entry(value: Any) -> BlueprintEntry:
    if not isinstance(value, _Mapping):
        raise BadBlueprint("an entry is a mapping with a `model`")
    line = value.line
    _only(value, _FIELDS, "an entry")
    model, id, state = value.get("model"), value.get("id"), value.get("state", "present")
    if not isinstance(model, str) or not model:
        raise BadBlueprint(f"line {line}: an entry needs a `model`, such as core.group")
    if id is not None and not isinstance(id, (str, int)):
        raise BadBlueprint(f"line {line}: `id` must be a word")
    if not isinstance(state, BlueprintTag) and state not in STATES:
        raise BadBlueprint(f"line {line}: `state` must be one of {', '.join(STATES)}")
    for name in ("conditions", "permissions"):
        if not isinstance(value.get(name) or [], list):
            raise BadBlueprint(f"line {line}: `{name}` must be a list")
    return BlueprintEntry(
        model=model.lower(),
        line=line,
        id="" if id is None else str(id),
        state=state,
        conditions=tuple(value.get("conditions") or ()),
        identifiers=_mapping(value.get("identifiers"), "identifiers"),
        attrs=_mapping(value.get("attrs"), "attrs"),
        permissions=tuple(value.get("permissions") or ()),
    )


class _Builder:
    """Makes values of YAML. What is shared by aliases is counted each time it is used."""

    def __init__(self, limits: ReadLimits) -> None:
        import yaml  # noqa: PLC0415 - few servers have blueprints, so it is loaded when first used

        self._yaml = yaml
        self._loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self._limits = limits
        self._left = limits.values
        self._scalars = yaml.SafeLoader("")

    def build(self, text: str) -> Any:
        yaml = self._yaml
        try:
            self._check_shape(text)
            root = yaml.compose(text, Loader=self._loader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f"line {mark.line + 1}: " if mark is not None else ""
            words = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
            raise BadBlueprint(f"{where}this is not YAML: {words}") from None
        except (ValueError, RecursionError):
            raise BadBlueprint("this is not YAML") from None
        return None if root is None else self._value(root, 0)

    def _check_shape(self, text: str) -> None:
        """Before anything is made of it."""
        yaml, depth, aliases = self._yaml, 0, 0
        for values, event in enumerate(yaml.parse(text, Loader=self._loader)):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            elif isinstance(event, yaml.AliasEvent):
                aliases += 1
            if depth > self._limits.depth:
                raise BadBlueprint(f"line {event.start_mark.line + 1}: this is nested too deeply")
            if aliases > self._limits.aliases:
                raise BadBlueprint(f"there are more than {self._limits.aliases} aliases")
            if values > 2 * self._limits.values:
                raise BadBlueprint("there are too many values")

    def _value(self, node: yaml.Node, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > self._limits.depth:
            raise BadBlueprint("there are too many values, or aliases that lead to themselves")
        if not node.tag.startswith(_YAML):
            return self._tag(node, depth)
        return self._plain(node, depth)

    def _plain(self, node: yaml.Node, depth: int) -> Any:
        if isinstance(node, self._yaml.SequenceNode):
            return [self._value(one, depth + 1) for one in node.value]
        if isinstance(node, self._yaml.MappingNode):
            return self._pairs(node, depth)
        return self._scalar(node)

    def _pairs(self, node: yaml.Node, depth: int) -> _Mapping:
        found = _Mapping()
        found.line = node.start_mark.line + 1
        for key, value in node.value:
            if not isinstance(key, self._yaml.ScalarNode):
                raise BadBlueprint(f"line {key.start_mark.line + 1}: a name must be a word")
            if key.tag == f"{_YAML}merge":
                raise BadBlueprint(f"line {key.start_mark.line + 1}: `<<` is not known here")
            if key.value in found:
                raise BadBlueprint(f"line {key.start_mark.line + 1}: `{key.value[:50]}` is here twice")
            found[key.value] = self._value(value, depth + 1)
        return found

    def _scalar(self, node: yaml.Node) -> Any:
        kind, line = node.tag.removeprefix(_YAML), node.start_mark.line + 1
        if kind not in ("null", "bool", "int", "float", "timestamp", "str"):
            raise BadBlueprint(f"line {line}: `!!{kind[:50]}` is not known here")
        if kind != "str" and len(node.value) > LONGEST_NUMBER:
            raise BadBlueprint(f"line {line}: this {kind} is too long")
        try:
            value = getattr(self._scalars, f"construct_yaml_{kind}")(node)
        except (self._yaml.YAMLError, ValueError, KeyError, OverflowError, IndexError, AttributeError):
            raise BadBlueprint(f"line {line}: this is no {kind}: {node.value[:50]}") from None
        if isinstance(value, date):  # moments, too: fields read them from text
            return value.isoformat()
        if (isinstance(value, float) and not math.isfinite(value)) or (
            isinstance(value, int) and value.bit_length() > 63
        ):
            raise BadBlueprint(f"line {line}: {node.value[:50]} is no number that can be kept")
        return value

    # Tags

    def _tag(self, node: yaml.Node, depth: int) -> Any:
        make = _TAGS.get(node.tag)
        line = node.start_mark.line + 1
        if make is None:
            raise BadBlueprint(f"line {line}: the tag {node.tag[:50]} is not known")
        if isinstance(node, self._yaml.MappingNode):
            raise BadBlueprint(f"line {line}: {node.tag} takes no mapping")
        if isinstance(node, self._yaml.SequenceNode):
            parts = [self._value(one, depth + 1) for one in node.value]
        else:
            parts = [node.value]
        try:
            return make(parts, line, isinstance(node, self._yaml.ScalarNode))
        except (ValueError, IndexError, TypeError):
            raise BadBlueprint(f"line {line}: {node.tag} {_WANTED[node.tag]}") from None


def _can_be_kept(value: float) -> bool:
    return value.bit_length() <= 63 if isinstance(value, int) else math.isfinite(value)


def _word(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def _key_of(parts: list[Any], line: int, _alone: bool) -> BlueprintTag:
    [id] = parts
    return tags.KeyOf(_word(id), line=line)


def _find(parts: list[Any], line: int, _alone: bool, *, whole: bool = False) -> BlueprintTag:
    model, *conditions = parts
    wanted = tuple((_word(name), value) for name, value in conditions)
    if not wanted:
        raise ValueError
    return tags.Find(_word(model).lower(), wanted, whole, line=line)


def _find_object(parts: list[Any], line: int, alone: bool) -> BlueprintTag:
    return _find(parts, line, alone, whole=True)


def _named(kind: Callable[..., BlueprintTag]) -> Callable[[list[Any], int, bool], BlueprintTag]:
    """A name, alone or with what counts where there is none."""

    def make(parts: list[Any], line: int, _alone: bool) -> BlueprintTag:
        name, *default = parts
        if len(default) > 1:
            raise ValueError
        return kind(_word(name), *default, line=line)

    return make


def _format(parts: list[Any], line: int, _alone: bool) -> BlueprintTag:
    return tags.Format(parts[0], tuple(parts[1:]), line=line)


def _if(parts: list[Any], line: int, _alone: bool) -> BlueprintTag:
    if len(parts) == 1:
        return tags.If(parts[0], True, False, line=line)
    condition, then, otherwise = parts
    return tags.If(condition, then, otherwise, line=line)


def _condition(parts: list[Any], line: int, _alone: bool) -> BlueprintTag:
    mode, *values = parts
    if _word(mode).upper() not in _MODES or not values:
        raise ValueError
    return tags.Condition(mode.upper(), tuple(values), line=line)


def _enumerate(parts: list[Any], line: int, _alone: bool) -> BlueprintTag:
    items, mode, body = parts
    if mode not in ("SEQ", "MAP"):
        raise ValueError
    if mode == "MAP" and (not isinstance(body, list) or len(body) != 2):
        raise ValueError
    return tags.Enumerate(items, mode == "MAP", body, line=line)


def _level(kind: Callable[..., BlueprintTag]) -> Callable[[list[Any], int, bool], BlueprintTag]:
    def make(parts: list[Any], line: int, _alone: bool) -> BlueprintTag:
        [depth] = parts
        if not 0 <= int(depth) < 20:
            raise ValueError
        return kind(int(depth), line=line)

    return make


def _at_index(parts: list[Any], line: int, _alone: bool) -> BlueprintTag:
    of, key, *default = parts
    if len(default) > 1:
        raise ValueError
    return tags.AtIndex(of, key, *default, line=line)


def _sealed(parts: list[Any], line: int, alone: bool) -> BlueprintTag:
    [text] = parts
    if not alone:
        raise ValueError
    return tags.Sealed(_word(text), line=line)


_TAGS: dict[str, Callable[[list[Any], int, bool], BlueprintTag]] = {
    "!KeyOf": _key_of,
    "!Find": _find,
    "!FindObject": _find_object,
    "!Context": _named(tags.Context),
    "!Env": _named(tags.Env),
    "!File": _named(tags.File),
    "!Format": _format,
    "!If": _if,
    "!Condition": _condition,
    "!Enumerate": _enumerate,
    "!Index": _level(tags.Index),
    "!Value": _level(tags.Item),
    "!AtIndex": _at_index,
    "!Sealed": _sealed,
}
_WANTED = {
    "!KeyOf": "takes the id of an entry",
    "!Find": "takes [model, [field, value], ...]",
    "!FindObject": "takes [model, [field, value], ...]",
    "!Context": "takes a name, or [name, default]",
    "!Env": "takes a name, or [name, default]",
    "!File": "takes a path, or [path, default]",
    "!Format": "takes [text, value, ...]",
    "!If": "takes [condition, then, otherwise]",
    "!Condition": f"takes [{'|'.join(_MODES)}, value, ...]",
    "!Enumerate": "takes [items, SEQ|MAP, body]; for MAP the body is [key, value]",
    "!Index": "takes a number",
    "!Value": "takes a number",
    "!AtIndex": "takes [of, key] or [of, key, default]",
    "!Sealed": "takes a sealed text",
}
