"""The functions that every expression can use, as source text for the sandbox.

Internal names begin with an underscore, so that no variable can hide them. What leaves the sandbox, questions for
helpers and the result, leaves it as text on the error stream: `sandbox.py` says why. Most functions have three names:
the plain one and those that older expressions use. Only the functions that an expression names are put before it,
because reading all of them takes longer than running most expressions.
"""

from __future__ import annotations

import re

_CORE = """
import json as _json
import sys as _sys

_messages = []


class _Facts:
    def __init__(self, values):
        self._values = values
        for name in values:
            setattr(self, name, values[name])

    def get(self, name, otherwise=None):
        return self._values.get(name, otherwise)

    def app_entitlements(self, application=None):
        return self._values.get("entitlements", [])

    def keys(self):
        return self._values.keys()

    def items(self):
        return self._values.items()

    def __getitem__(self, name):
        return self._values[name]

    def __contains__(self, name):
        return name in self._values

    def __iter__(self):
        return iter(self._values)

    def __str__(self):
        return str(self._values.get("username", self._values.get("name", "")))


def _opened(value):
    if isinstance(value, tuple):
        return _Facts({name: _opened(item) for name, item in value[0].items()})
    if isinstance(value, list):
        return [_opened(item) for item in value]
    return value


def _plain(value):
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, _Facts):
        return _plain(value._values)
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    return str(value)


def _say(value, what):
    text = _json.dumps(_plain(value))
    if len(text) > 65536:
        raise ValueError(what + " longer than 65536 characters")
    print("\\n" + text, file=_sys.stderr)


def _give(*given):
    _say(given, "what a helper is given is")


def _tell(value):
    _say([value, _messages], "the result is")


def message(text):
    _messages.append(str(text)[:1000])


ak_message = pb_message = message
"""

_REGEX = """
import re as _re


def regex_match(value, regex):
    return _re.search(regex, str(value)) is not None


def regex_replace(value, regex, repl):
    return _re.sub(regex, repl, str(value))
"""

_LISTS = """
def list_flatten(value):
    if isinstance(value, (list, tuple, set)):
        return list(value)[0] if value else None
    return value


def delete_none_values(values):
    return {name: value for name, value in values.items() if value is not None}
"""

_SLUGS = """
import re as _re


def slugify(value):
    return _re.sub(r"[^a-z0-9]+", "-", str(value).lower()).strip("-")
"""

_ATTRIBUTES = """
def obj_attr(obj, path, fallback=None):
    for name in path.split("."):
        if isinstance(obj, (dict, _Facts)):
            obj = obj.get(name, fallback)
        else:
            return fallback
    return obj


ak_obj_attr = pb_obj_attr = obj_attr
"""

_PEOPLE = """
def is_group_member(user, **filters):
    if user is None:
        return False
    if any(all(group.get(name) == wanted for name, wanted in filters.items()) for group in user.all_groups):
        return True
    _give(filters)
    try:
        return _is_group_member()
    except NameError:  # where nothing is decided, nobody looks whether the group is there
        return False


def user_by(**filters):
    _give(filters)
    return _opened(_user_by())


def user_has_authenticator(user, kind=None):
    if user is None:
        return False
    _give(user.get("pk"), kind)
    return _user_has_authenticator()


ak_is_group_member = pb_is_group_member = is_group_member
ak_user_by = pb_user_by = user_by
ak_user_has_authenticator = pb_user_has_authenticator = user_has_authenticator
"""

_DOING = """
def call_policy(name, **context):
    _give(str(name), context)
    return _opened(_call_policy())


def create_event(action, **context):
    _give(str(action), context)
    _create_event()


ak_call_policy = pb_call_policy = call_policy
ak_create_event = pb_create_event = create_event
"""

_NAMES = """
def resolve_dns(host, ip_version=None):
    _give(str(host), ip_version)
    return _resolve_dns()


def reverse_dns(address):
    _give(str(address))
    return _reverse_dns()


ak_resolve_dns = pb_resolve_dns = resolve_dns
ak_reverse_dns = pb_reverse_dns = reverse_dns
"""

_ADDRESSES = """
import re as _re


def _ip4(text):
    parts = text.split(".")
    if len(parts) != 4 or not all(part.isdigit() and len(part) < 4 and int(part) < 256 for part in parts):
        raise ValueError(f"{text!r} is not an address")
    number = 0
    for part in parts:
        number = number * 256 + int(part)
    return number


def _ip6(text):
    head, gap, tail = text.partition("::")
    words = []
    for half in (head, tail):
        found = half.split(":") if half else []
        if found and "." in found[-1]:
            number = _ip4(found[-1])
            found[-1:] = ["%x" % (number >> 16), "%x" % (number & 65535)]
        words.append(found)
    missing = 8 - len(words[0]) - len(words[1])
    if "::" in tail or (missing < 1 if gap else missing != 0):
        raise ValueError(f"{text!r} is not an address")
    number = 0
    for word in words[0] + ["0"] * missing + words[1]:
        if not _re.fullmatch("[0-9a-fA-F]{1,4}", word):
            raise ValueError(f"{text!r} is not an address")
        number = number * 65536 + int(word, 16)
    return number


def _ip(text):
    text = text.strip().partition("%")[0]
    if ":" not in text:
        return 32, _ip4(text)
    number = _ip6(text)
    if number >> 32 == 65535:
        return 32, number & 4294967295
    return 128, number


class _Network:
    def __init__(self, text):
        self.text = str(text)
        address, slash, length = self.text.partition("/")
        self.bits, self.number = _ip(address)
        self.length = int(length) if slash else self.bits
        if not 0 <= self.length <= self.bits:
            raise ValueError(f"{self.text!r} is not a network")

    def __contains__(self, address):
        bits, number = _ip(str(address))
        rest = self.bits - self.length
        return bits == self.bits and number >> rest == self.number >> rest

    def __str__(self):
        return self.text


def ip_network(text):
    return _Network(text)


def ip_address(text):
    _ip(str(text))
    return str(text)


def ip_in(address, *networks):
    return any(address in _Network(network) for network in networks)
"""

_LOGGER = """
class _Logger:
    def debug(self, *words, **more):
        print(*words, *[f"{name}={value}" for name, value in more.items()])

    def info(self, *words, **more):
        self.debug(*words, **more)

    def warning(self, *words, **more):
        self.debug(*words, **more)

    def error(self, *words, **more):
        self.debug(*words, **more)


logger = ak_logger = pb_logger = _Logger()
"""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DEFINED = re.compile(r"^def ([a-z]\w*)|^((?:[a-z]\w* = )+)", re.MULTILINE)


def _names_of(piece: str) -> frozenset[str]:
    """The public names that a piece of the prelude defines."""
    found = [function or assigned for function, assigned in _DEFINED.findall(piece)]
    return frozenset(word for words in found for word in _WORD.findall(words))


_PIECES = [
    (piece, _names_of(piece))
    for piece in (_REGEX, _LISTS, _SLUGS, _ATTRIBUTES, _PEOPLE, _DOING, _NAMES, _ADDRESSES, _LOGGER)
]
NAMES = _names_of(_CORE).union(*(names for _, names in _PIECES))


def prelude_for(body: str) -> str:
    """The pieces of the prelude whose names occur in the text of an expression."""
    words = set(_WORD.findall(body))
    return _CORE + "".join(piece for piece, names in _PIECES if names & words)
