"""Names that are loaded when first asked for."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType

import pytest

from kith.base import crypto
from kith.base.late_names import load_late
from kith.identity import jose


def test_a_name_is_looked_for_once_and_is_then_the_module_s_own() -> None:
    module = {"__name__": "late"}
    find = load_late(module, {"json": ("dumps",), "email": ("message",)})

    assert find("dumps") is module["dumps"] is importlib.import_module("json").dumps
    assert find("message") is importlib.import_module("email.message")
    with pytest.raises(AttributeError, match="'late' has no attribute 'loads'"):
        find("loads")


@pytest.mark.parametrize("module", [crypto, jose])
def test_every_name_that_is_promised_is_found(module: ModuleType) -> None:
    for name in module.__all__:
        found = getattr(module, name)
        assert inspect.ismodule(found) or inspect.isclass(found) or callable(found), name
        assert vars(module)[name] is found
