"""Other code in the functions of one module that is loaded already.

Who holds such a function has the changed one from then on. What the module did while it was loaded is not done again.
"""

from __future__ import annotations

import gc
import sys
from collections import defaultdict
from collections.abc import Iterator
from types import CodeType, FunctionType

__all__ = ["change"]


def change(module: str, source: str) -> None:
    """Give every function of the module that the source changes its new code."""
    gc.unfreeze()  # or what was there at the last freeze would not be found
    old = _by_name(_codes_of_functions(module))
    new = _by_name(_codes_in(compile(source, sys.modules[module].__file__ or module, "exec")))
    for name, functions in _functions(module).items():
        for function in functions:
            # Several functions may have one name, as a property and its setter: they come in the same order.
            place = old[name].index(function.__code__)
            function.__code__ = new[name][place]
    gc.freeze()


def _functions(module: str) -> dict[str, list[FunctionType]]:
    found = defaultdict(list)
    file = sys.modules[module].__file__
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename == file and "<locals>" not in one.__qualname__:
            found[one.__code__.co_qualname].append(one)
    return found


def _codes_of_functions(module: str) -> Iterator[CodeType]:
    codes = {function.__code__ for functions in _functions(module).values() for function in functions}
    return iter(sorted(codes, key=lambda code: code.co_firstlineno))


def _codes_in(whole: CodeType) -> Iterator[CodeType]:
    """The functions of a module or class, in their order."""
    for constant in whole.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            if not constant.co_flags & 0x2:  # CO_NEWLOCALS: a class has none
                yield from _codes_in(constant)


def _by_name(codes: Iterator[CodeType]) -> dict[str, list[CodeType]]:
    found = defaultdict(list)
    for code in codes:
        found[code.co_qualname].append(code)
    return found
