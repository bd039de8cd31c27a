"""authentik's expressions are Python with Django's objects. Those that ours can run as well are taken."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap

from kith.identity.expressions.prelude import NAMES

__all__ = ["complaint_about", "translated"]

MOST = 65_536
_CONTEXT = frozenset({
    "request", "user", "context", "http_request", "client_ip", "ak_client_ip", "is_sso_flow", "ak_is_sso_flow",
    "flow_plan", "ak_flow_plan", "entitlements", "provider", "token", "ldap", "dn", "source", "info", "client",
    "properties", "assertion", "root", "name_id", "group_id", "group", "SkipObject", "notification", "geoip", "asn",
})  # fmt: skip
_MODULES = frozenset({"json", "re", "math", "datetime", "hashlib", "base64", "collections"})
# Of Django's objects, which are plain values here.
_DJANGO = frozenset({
    "all", "filter", "exclude", "objects", "exists", "first", "last", "values_list", "group_attributes", "save",
    "delete", "set_password", "check_password", "refresh_from_db", "select_related", "prefetch_related", "order_by",
})  # fmt: skip
_MEMBER = re.compile(
    r"\b((?:\w{1,60}\.){0,5}?\w{1,60})\.(?:ak_)?groups\.filter\(\s{0,9}name\s{0,9}=\s{0,9}"
    r"(\"[^\"\\\n]{0,200}\"|'[^'\\\n]{0,200}')\s{0,9}\)\.exists\(\)"
)
_ALL = re.compile(r"\b((?:ak_)?groups)\.all\(\)")
_NOT_GIVEN = ("getattr", "setattr", "eval", "exec", "open", "__import__", "globals", "locals", "vars", "compile")


def translated(expression: str) -> str:
    """Lists of groups are lists here: what authentik's own examples do with them is written that way."""
    said = _MEMBER.sub(r"any([group.name == \2 for group in \1.groups])", expression)
    return _ALL.sub(r"\1", said)


def complaint_about(expression: str) -> str | None:
    """What it uses that is not here; None where it can be tried. Whether it parses is checked when it is saved."""
    if len(expression) > MOST:
        return "it is too long"
    try:
        tree = ast.parse(f"def expression():\n{textwrap.indent(expression, '    ')}\n    pass")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it cannot be read"
    given = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    given |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    given |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    given |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                modules = [one.name for one in names]
            case ast.ImportFrom(module=module, names=names):
                modules = [module or ""]
            case _:
                continue
        for module in modules:
            if module.partition(".")[0] not in _MODULES:
                return f"it imports {module}, which is not here"
        given |= {(one.asname or one.name).partition(".")[0] for one in names}
    known = given | _CONTEXT | NAMES | (set(dir(builtins)) - set(_NOT_GIVEN))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in known:
            return f"it uses {node.id}, which is not here"
        if isinstance(node, ast.Attribute) and node.attr in _DJANGO:
            return f"it uses .{node.attr} of Django, which is not here"
    return None
