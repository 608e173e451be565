"""The fixture `reflex`."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run


def test_a_test_may_judge_and_assert(project: pytest.Pytester, run: Run) -> None:
    project.makepyfile(
        """
        import pytest
        from pytest_reflex import ReflexError

        def test_it(reflex):
            found = reflex.evaluate("api.md", "mini.reflex.yaml", phase="A", threshold=1)
            assert found.passed
            assert found.level.value == "A"
            assert [row.rule.id for row in found.results] == ["a.x.usage", "a.x.install"]

        def test_a_fault_is_raised(reflex):
            with pytest.raises(ReflexError, match="no.md"):
                reflex.evaluate("no.md", "mini.reflex.yaml")
        """
    )
    (path,) = project.path.glob("test_*.py")
    result = run(path.name)
    result.assert_outcomes(passed=2)
    assert "GATE" not in result.stdout.str()
