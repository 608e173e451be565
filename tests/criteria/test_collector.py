"""The garbage collector rests while criteria are read, and is afterwards as it was before."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from pytest_reflex.criteria.load import collector_off

pytestmark = pytest.mark.long

MANY = 60_000


@pytest.fixture
def collector() -> Iterator[None]:
    gc.collect()
    gc.enable()
    yield
    gc.enable()
    gc.unfreeze()


def test_large_tree_is_old_at_once(collector: None) -> None:
    with collector_off():
        assert not gc.isenabled()
        tree = [[] for _ in range(MANY)]  # type: ignore[var-annotated]
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    young = {id(one) for one in gc.get_objects(generation=0)}
    assert not young & {id(one) for one in tree}


def test_collector_that_was_off_stays_off(collector: None) -> None:
    gc.disable()
    with collector_off():
        pass
    assert not gc.isenabled()


def test_what_others_have_frozen_stays_frozen(collector: None) -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with collector_off():
        tree = [[] for _ in range(MANY)]  # type: ignore[var-annotated]
    assert len(tree) == MANY
    assert gc.get_freeze_count() > frozen // 2 > 0
