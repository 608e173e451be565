"""The registry of check types."""

from __future__ import annotations

import pytest

from pytest_reflex.checks.content import ContentCheck
from pytest_reflex.checks.registry import Registry, built_in_registry, register_built_ins
from pytest_reflex.errors import CriteriaError, UsageError
from pytest_reflex.model.targets import CheckType


class Mine(ContentCheck):
    pass


class Nameless(ContentCheck):
    name = ""


def test_built_ins_register_like_a_plugin() -> None:
    found: list[CheckType] = []
    register_built_ins(found.append)
    assert [kind.name for kind in found] == [kind.name for kind in built_in_registry()]


def test_taken_name_is_refused_and_both_are_named() -> None:
    registry = built_in_registry()
    with pytest.raises(UsageError, match=r"'content'.*content\.ContentCheck.*test_registry\.Mine"):
        registry.register(Mine())


def test_type_without_a_name_is_refused() -> None:
    with pytest.raises(UsageError, match=r"test_registry\.Nameless has no name"):
        Registry().register(Nameless())


def test_unknown_type_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(CriteriaError, match=r"'contnt'.*did you mean content\?"):
        built_in_registry().get("contnt")


def test_registered_type_is_found_by_its_name() -> None:
    registry = Registry()
    mine = Mine()
    registry.register(mine)
    assert registry.get("content") is mine
    assert "content" in registry
    assert list(registry) == [mine]
