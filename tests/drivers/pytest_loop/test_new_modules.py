"""An honest new module ends a loop too, and a person may let it stay; hints name what works."""

from __future__ import annotations

import re
import shlex
from contextlib import chdir
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.new_modules import find_new_modules
from pytest_reflex.integrity.manifest import Change, ChangeKind
from tests.drivers.pytest_loop.stage import RIGHT, Project

pytestmark = pytest.mark.long

Capture = pytest.CaptureFixture[str]

HELPER = "def added(a, b):\n    return a + b\n"
USES_IT = """\
def put(name):
    pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(name).write_text({helper!r})
if calls == 1:
    for name in {names!r}:
        put(name)
    text = code.read_text().replace("a - b", "added(a, b)")
    code.write_text("from {module} import added\\n" + text)
else:
    code.write_text(code.read_text().replace("return a\\n", "return a / 2\\n"))
"""
HONEST = {
    "a module beside the code": ("aids", ["aids.py"]),
    "a package of its own": ("sumtools.adding", ["sumtools/__init__.py", "sumtools/adding.py"]),
    "a module in a folder": ("lib.aids", ["lib/aids.py"]),
}


def agent(project: Project, module: str, names: list[str]) -> None:
    project.agent(USES_IT.format(helper=HELPER, names=names, module=module))


def advised(out: str) -> list[str]:
    """Return the words of the command that the summary advises."""
    found = re.search(r"Next: .*?`pytest ([^`]*)`", " ".join(out.split()))
    assert found, out
    return shlex.split(found[1])


@pytest.mark.parametrize(("module", "names"), HONEST.values(), ids=HONEST)
def test_a_new_module_is_offered_and_the_command_that_is_advised_goes_on(
    project: Project, capsys: Capture, module: str, names: list[str]
) -> None:
    agent(project, module, names)
    assert project.play() == 1
    assert project.stop()[0] == "tampered"
    assert project.state()["stop"]["offered"] == names
    out = capsys.readouterr().out
    assert f"review {', '.join(names)}, which the agent added" in " ".join(out.split())
    words = advised(out)
    assert [words[i + 1] for i, word in enumerate(words) if word == "--reflex-allow"] == names
    assert project.run(*project.arguments(*words, "--reflex-yes")) == 0
    assert project.stop() == ("threshold_reached", "")
    assert "a + b" not in project.read()
    (extended,) = project.events("run_extended")
    assert (extended["reason"], extended["allowed"]) == ("tampered", names)


def test_what_was_allowed_may_be_changed_from_then_on(project: Project, capsys: Capture) -> None:
    project.agent(
        "pathlib.Path('aids.py').write_text(f'calls = {calls}')\n"
        "fix() if calls == 3 else code.write_text(code.read_text() + '# half')"
    )
    assert project.play() == 1
    words = advised(capsys.readouterr().out)
    assert project.run(*project.arguments(*words, "--reflex-yes")) == 0
    assert project.read("aids.py") == "calls = 3"


NOT_OFFERED = {
    "a test is changed, too": "put('aids.py'); put('test_sums.py')",
    "conftest.py": "put('conftest.py')",
    "a conftest.py deeper down": "put('lib/conftest.py')",
    "a module of the library": "put('json.py')",
    "an installed package": "put('pytest/__init__.py')",
    "a start-up file": "put('sitecustomize.py')",
    "a file with settings": "put('setup.cfg')",
    "what is not a module": "put('aids.txt')",
    "a hidden folder": "put('.aids/it.py')",
    "a link": "os.symlink('sums.py', 'aids.py')",
    "so many": "[put(f'aids{n}.py') for n in range(30)]",
}


@pytest.mark.variants
@pytest.mark.parametrize("acts", NOT_OFFERED.values(), ids=NOT_OFFERED)
def test_what_could_judge_is_never_offered(project: Project, capsys: Capture, acts: str) -> None:
    project.agent(
        "def put(name):\n"
        "    pathlib.Path(name).parent.mkdir(exist_ok=True)\n"
        "    pathlib.Path(name).write_text('')\n"
        f"fix(); {acts}"
    )
    assert project.play() == 1
    assert "offered" not in project.state()["stop"]
    out = " ".join(capsys.readouterr().out.split())
    assert "review what was modified, then start a new loop" in out
    again = project.arguments("--reflex-loop", "--reflex-resume", "--reflex-yes")
    assert project.run(*again, "--reflex-allow=aids.py") == 4
    assert "start over with" in capsys.readouterr().err


@pytest.mark.parametrize("named", ["", "other.py", "aids.py"])
def test_each_module_has_to_be_allowed_by_its_name(
    project: Project, capsys: Capture, named: str
) -> None:
    agent(project, "aids", ["aids.py", "more.py"])
    assert project.play() == 1
    words = [f"--reflex-allow={named}"] if named else ["--reflex-max-iterations=+2"]
    again = project.arguments("--reflex-loop", "--reflex-resume", "--reflex-yes", *words)
    assert project.run(*again) == 4
    told = " ".join(capsys.readouterr().err.split())
    if named == "other.py":
        assert "other.py cannot be allowed: it is not a new module" in told
        assert "aids.py, more.py" in told
    else:
        assert "--reflex-allow aids.py --reflex-allow more.py" in told
    assert project.stop()[0] == "tampered"


def test_what_else_changed_until_then_stops_it_again(project: Project, capsys: Capture) -> None:
    agent(project, "aids", ["aids.py"])
    assert project.play() == 1
    words = advised(capsys.readouterr().out)
    project.write("test_more.py", "def test_more():\n    pass\n")
    assert project.run(*project.arguments(*words, "--reflex-yes")) == 2
    assert "test_more.py was added" in capsys.readouterr().out
    assert project.calls() == 1


def test_allowing_needs_a_loop_to_resume(project: Project, capsys: Capture) -> None:
    assert project.play("--reflex-allow=aids.py") == 4
    assert "--reflex-allow needs --reflex-resume" in capsys.readouterr().err


BUDGETS = {
    "calls": ("calls=1", "--reflex-budget calls=+1"),
    "seconds": ("seconds=0.001", "--reflex-budget seconds=+"),
    "two of them": ("calls=1,seconds=0.001", "--reflex-budget calls=+1 --reflex-budget seconds=+"),
}


@pytest.mark.parametrize(("budget", "option"), BUDGETS.values(), ids=BUDGETS)
def test_after_a_budget_the_advised_command_goes_on(
    project: Project, capsys: Capture, budget: str, option: str
) -> None:
    project.agent("code.write_text(code.read_text() + '# half') if calls == 1 else fix()")
    assert project.play(f"--reflex-budget={budget}") == 1
    assert project.stop()[0] == "budget_exceeded"
    out = capsys.readouterr().out
    words = advised(out)
    assert option in " ".join(out.split())
    assert "--reflex-max-iterations" not in words
    again = project.arguments("--reflex-loop", "--reflex-resume", "--reflex-yes")
    assert project.run(*again, "--reflex-max-iterations=+2") == 4
    assert "--reflex-budget" in capsys.readouterr().err
    assert project.run(*project.arguments(*words, "--reflex-yes")) in (0, 1)
    assert len(list(project.events("run_extended"))) == 1


def test_after_the_last_iteration_the_advised_command_goes_on(
    project: Project, capsys: Capture
) -> None:
    project.agent("code.write_text(code.read_text() + '# half') if calls == 1 else fix()")
    assert project.play("--reflex-max-iterations=2") == 1
    words = advised(capsys.readouterr().out)
    assert words[-2:] == ["--reflex-max-iterations", "+2"]
    assert project.run(*project.arguments(*words, "--reflex-yes")) == 0
    assert project.read() == RIGHT + "# half"


def test_a_loop_over_a_text_offers_its_modules_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    import sys

    (tmp_path / "writer.py").write_text(
        "import pathlib\n"
        "pathlib.Path('aids.py').write_text('x = 1')\n"
        "print('# Title\\n\\nBoth words: alpha and beta.')\n"
    )
    (tmp_path / "words.yaml").write_text(
        "name: words\nrules:\n"
        "  - {id: a.x.alpha, description: d, severity: fail, "
        "check: {type: content, search: alpha}}\n"
    )
    (tmp_path / "pytest-reflex.toml").write_text(
        f"[agents.writer]\ncommand = [{sys.executable!r}, 'writer.py']\n"
    )
    with chdir(tmp_path):
        new = ["loop", "new", "Write", "--criteria", "words.yaml", "--alias", "words", "--yes"]
        assert main([*new, "--agent", "produce=writer"]) == 10
        told = " ".join("".join(capsys.readouterr()).split())
        assert "`pytest-reflex loop extend words --allow aids.py`" in told
        assert main(["loop", "status", "words"]) in (0, 10)
        again = "Go on with: pytest-reflex loop extend words --allow aids.py"
        assert again in " ".join(capsys.readouterr().out.split())
        assert main(["loop", "extend", "words", "--yes"]) == 4
        assert "--allow aids.py" in capsys.readouterr().err
        assert main(["loop", "extend", "words", "--allow", "aids.py", "--yes"]) == 0


@pytest.mark.parametrize("path", ["types.py", "pytest/__init__.py", "mine/setup.py"])
def test_inside_a_package_a_name_is_its_own(tmp_path: Path, path: str) -> None:
    """But that of a new package, of a module beside all others, or of a tool, is not."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/__init__.py").touch()
    assert find_new_modules([Change("mine/types.py", ChangeKind.ADDED)], tmp_path) == (
        "mine/types.py",
    )
    assert find_new_modules([Change(path, ChangeKind.ADDED)], tmp_path) == ()
    assert find_new_modules([Change("mine/types.py", ChangeKind.CHANGED)], tmp_path) == ()
    assert find_new_modules([], tmp_path) == ()
