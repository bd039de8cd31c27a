"""Which plural form a number takes, by a catalogue's `Plural-Forms` header.

The header holds an expression in a small part of C, such as `nplurals=2; plural=(n != 1);`. It is parsed here into
functions; nothing of it is evaluated as Python.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

__all__ = ["PluralRule", "PluralRuleError", "read_plural_rule"]

PluralRule = Callable[[int], int]

_HEADER = re.compile(r"\s*nplurals\s*=\s*(\d)\s*;\s*plural\s*=\s*([^;]{1,500})\s*;?\s*")
_TOKEN = re.compile(r"\s*(\d{1,9}|n|\|\||&&|[!<>=]=|[<>!?:()+\-*/%])")
_DEEPEST = 50
Operator = Callable[[PluralRule, PluralRule], PluralRule]


def _of_values(do: Callable[[int, int], int]) -> Operator:
    return lambda left, right: lambda n: int(do(left(n), right(n)))


# From the loosest binding to the tightest. `||` and `&&` do not look at their right side when the left one decides.
_LEVELS: tuple[dict[str, Operator], ...] = (
    {"||": lambda left, right: lambda n: int(bool(left(n) or right(n)))},
    {"&&": lambda left, right: lambda n: int(bool(left(n) and right(n)))},
    {"==": _of_values(operator.eq), "!=": _of_values(operator.ne)},
    {
        symbol: _of_values(do)
        for symbol, do in (("<", operator.lt), (">", operator.gt), ("<=", operator.le), (">=", operator.ge))
    },
    {"+": _of_values(operator.add), "-": _of_values(operator.sub)},
    {"*": _of_values(operator.mul), "/": _of_values(operator.floordiv), "%": _of_values(operator.mod)},
)


class PluralRuleError(ValueError):
    """The header is not one that gettext knows."""


def read_plural_rule(header: str) -> tuple[int, PluralRule]:
    """How many forms there are, and the function from a number to the place of its form."""
    match = _HEADER.fullmatch(header)
    if match is None:
        raise PluralRuleError(f"not a Plural-Forms header: {header[:80]}")
    count = int(match[1])
    expression = _Parser(_tokens(match[2])).parse()

    def form_of(number: int) -> int:
        try:
            form = int(expression(abs(number)))
        except ZeroDivisionError:
            return 0
        return form if 0 <= form < count else 0

    return count, form_of


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise PluralRuleError(f"cannot read {text[at : at + 20]!r} in a plural rule")
        found.append(match[1])
        at = match.end()
    return found


class _Parser:
    """Recursive descent, to a limited depth."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def parse(self) -> PluralRule:
        expression = self._choice()
        if self._at != len(self._tokens):
            raise PluralRuleError(f"{self._tokens[self._at]!r} is left over in a plural rule")
        return expression

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, token: str) -> bool:
        if self._next() != token:
            return False
        self._at += 1
        return True

    def _need(self, token: str) -> None:
        if not self._take(token):
            raise PluralRuleError(f"a plural rule lacks {token!r}")

    def _choice(self) -> PluralRule:
        """`condition ? one : other`."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise PluralRuleError("a plural rule is nested too deeply")
        condition = self._binary(0)
        if self._take("?"):
            then = self._choice()
            self._need(":")
            otherwise = self._choice()
            self._depth -= 1
            return lambda n: then(n) if condition(n) else otherwise(n)
        self._depth -= 1
        return condition

    def _binary(self, level: int) -> PluralRule:
        if level == len(_LEVELS):
            return self._single()
        left = self._binary(level + 1)
        while (symbol := self._next()) in _LEVELS[level]:
            self._at += 1
            left = _LEVELS[level][symbol](left, self._binary(level + 1))
        return left

    def _single(self) -> PluralRule:
        if self._take("!"):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise PluralRuleError("a plural rule is nested too deeply")
            inner = self._single()
            self._depth -= 1
            return lambda n: int(not inner(n))
        if self._take("("):
            inner = self._choice()
            self._need(")")
            return inner
        if self._take("n"):
            return lambda n: n
        token = self._next()
        if not token.isdigit():
            raise PluralRuleError(f"a plural rule has {token!r} where a value must be")
        self._at += 1
        value = int(token)
        return lambda _: value
