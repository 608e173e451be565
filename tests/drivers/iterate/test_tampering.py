"""A tool may change the project, but not what its gates run: each attempt is named, none passes."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main

pytestmark = pytest.mark.variants

PYTHON = sys.executable
CRITERIA = """\
name: words
version: 1
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""
SUITE = "criteria: words.yaml\nartifacts: [good.md]\n"
FILES = {
    "check.py": "import sys\nsys.exit(0)\n",
    "check.sh": "#!/bin/sh\nsh lib/steps.sh\n",
    "lib/steps.sh": "true && exit 0\n",
    "lib/__main__.py": "",
    "tools/check.py": "",
    "common.mk": "",
    "lib/__init__.py": "",
    "lib/selftest.py": "print('fine')\n",
    "Makefile": "include common.mk\ncheck:\n\t@sh check.sh\n",
    "package.json": '{"scripts": {"test": "node test.js"}, "dependencies": {}}\n',
    "conftest.py": "",
    "pyproject.toml": '[project]\nname = "x"\n[tool.pytest.ini_options]\naddopts = "-q"\n',
    "setup.cfg": "[tool:pytest]\naddopts = -q\n",
    "tox.ini": "[pytest]\naddopts = -q\n",
    "tests/test_good.py": "def test_it():\n    pass\n",
    "tests/data/one.txt": "1\n",
    "expected.txt": "1\n",
    "good.md": "alpha\n",
    "words.yaml": CRITERIA,
    "docs.reflex.yaml": SUITE,
    "patterns": "alpha\n",
}
SCRIPT = f"command = ['{PYTHON}', 'check.py']"
SHELL = "command = 'sh check.sh'"
ANY = "command = ['true']"
GOOD = "criteria = 'words.yaml'\nartifacts = ['good.md']"

# A gate, what the tool writes in the first iteration (code for Python), and the path that is named.
ATTEMPTS: dict[str, tuple[str, str, str]] = {
    "a script is rewritten": (SCRIPT, "write('check.py', '')", "check.py"),
    "a script of a shell is rewritten": (SHELL, "write('check.sh', '')", "check.sh"),
    "a script in a text for a shell": (
        "command = 'true && sh check.sh'", "append('check.sh', 'exit 0')", "check.sh",
    ),
    "a script behind a change of folder": (
        "command = 'cd lib && sh steps.sh'", "append('lib/steps.sh', 'x')", "lib/steps.sh",
    ),
    "a script that a script runs": (SHELL, "append('lib/steps.sh', 'exit 0')", "lib/steps.sh"),
    "a script is replaced at one go": (
        "command = ['./check.sh']",
        "program('new'); os.replace('new', 'check.sh')",
        "check.sh",
    ),
    "a script is replaced by a link": (
        "command = ['./check.sh']",
        "program('new'); os.unlink('check.sh'); os.symlink('new', 'check.sh')",
        "check.sh",
    ),
    "a link in place of a script has the same content": (
        SCRIPT, "os.rename('check.py', 'same'); os.symlink('same', 'check.py')", "check.py",
    ),
    "a script cannot be executed": (
        "command = ['./check.sh']", "os.chmod('check.sh', 0o644)", "check.sh",
    ),
    "a script is deleted": (SCRIPT, "os.unlink('check.py')", "check.py"),
    "an edit of equal size with the time set back": (
        SCRIPT,
        "replace_in_silence('check.py', 'exit(0)', 'exit(1)')",
        "check.py",
    ),
    "a module that is run": (
        f"command = ['{PYTHON}', '-m', 'lib.selftest']",
        "write('lib/selftest.py', '')", "lib/selftest.py",
    ),
    "the package of a module that is run": (
        f"command = ['{PYTHON}', '-m', 'lib.selftest']",
        "append('lib/__init__.py', 'raise SystemExit')", "lib/__init__.py",
    ),
    "a test file that is named": (
        f"command = ['{PYTHON}', '-m', 'pytest', 'tests/test_good.py::test_it']",
        "append('tests/test_good.py', '#')", "tests/test_good.py",
    ),
    "a file that is compared": (
        "command = ['cmp', 'expected.txt', 'tests/data/one.txt']",
        "append('expected.txt', '2')", "expected.txt",
    ),
    "a file of patterns": (
        "command = ['grep', '-q', '-f', 'patterns', 'good.md']",
        "write('patterns', '.')", "patterns",
    ),
    "a conftest is added": (ANY, "write('tests/conftest.py', '')", "tests/conftest.py"),
    "a conftest is added deep down": (
        ANY, "write('tests/data/deep/conftest.py', '')", "tests/data/deep/conftest.py",
    ),
    "a conftest is added behind a link": (
        ANY,
        "write('../outside/conftest.py', ''); os.symlink('../../outside', 'tests/more')",
        "tests/more/conftest.py",
    ),
    "a conftest is changed": (ANY, "append('conftest.py', '#')", "conftest.py"),
    "a conftest is removed": (ANY, "os.unlink('conftest.py')", "conftest.py"),
    "a pytest.ini is added": (ANY, "write('pytest.ini', '')", "pytest.ini"),
    "a hidden pytest.ini is added": (ANY, "write('.pytest.ini', '[pytest]')", ".pytest.ini"),
    "a pytest.toml is added": (ANY, "write('pytest.toml', '')", "pytest.toml"),
    "a pytest.ini is added beside a test": (
        ANY, "write('tests/pytest.ini', '[pytest]')", "tests/pytest.ini",
    ),
    "a pytest.ini is added above the project": (
        ANY, "write('../pytest.ini', '[pytest]')", "{parent}/pytest.ini",
    ),
    "the pytest section of pyproject": (
        ANY, "replace('pyproject.toml', '-q', '--co')", "pyproject.toml",
    ),
    "the pytest section of setup.cfg": (ANY, "replace('setup.cfg', '-q', '--co')", "setup.cfg"),
    "an option in other letters": (ANY, "replace('setup.cfg', 'addopts', 'ADDOPTS')", "setup.cfg"),
    "the pytest section of tox.ini": (ANY, "replace('tox.ini', '-q', '--co')", "tox.ini"),
    "a Makefile": ("command = ['make', 'check']", "write('Makefile', 'check:')", "Makefile"),
    "a makefile that comes first": (
        "command = ['make', 'check']", "write('GNUmakefile', 'check:')", "GNUmakefile",
    ),
    "a makefile that is named": (
        "command = ['make', '-f', 'Makefile', 'check']", "write('Makefile', 'check:')", "Makefile",
    ),
    "a script in a recipe": (
        "command = ['make', 'check']", "append('lib/steps.sh', '#')", "lib/steps.sh",
    ),
    "a file that a makefile includes": (
        "command = ['make', 'check']", "append('common.mk', '#')", "common.mk",
    ),
    "a script behind options of a shell": (
        "command = ['bash', '-euo', 'pipefail', '-c', './check.sh']",
        "append('check.sh', '#')", "check.sh",
    ),
    "a script behind another program": (
        "command = ['env', 'X=1', 'timeout', '9', './check.sh']",
        "os.chmod('check.sh', 0o644)", "check.sh",
    ),
    "a program that a script runs": (
        SHELL, "program('bin/true')", "bin/true",
    ),
    "a folder that Python runs": (
        f"command = ['{PYTHON}', 'lib']", "append('lib/__main__.py', '#')", "lib/__main__.py",
    ),
    "a module beside a script": (
        f"command = '{PYTHON} tools/check.py'", "write('tools/json.py', '')", "tools/json.py",
    ),
    "a plugin of pytest beside the tests": (
        f"command = ['{PYTHON}', '-m', 'pytest', 'tests']",
        "write('x-1.dist-info/entry_points.txt', '[pytest11]\\nx = tests.test_good')",
        "x-1.dist-info/entry_points.txt",
    ),
    "the configuration of a linter that is named": (
        "command = ['grep', '-q', '--file=patterns', 'good.md']",
        "write('patterns', '.')", "patterns",
    ),
    "the configuration of coverage": (
        f"command = ['{PYTHON}', '-m', 'pytest', '--cov', 'tests']",
        "write('.coveragerc', '')", ".coveragerc",
    ),
    "a script of npm": (
        "command = ['npm', 'test']", "replace('package.json', 'node test.js', 'true')",
        "package.json",
    ),
    "a program comes first on the PATH": (
        "command = ['grep', '-q', 'alpha', 'good.md']", "program('front/grep')", "front/grep",
    ),
    "a program in a relative folder of the PATH": (
        "command = ['grep', '-q', 'alpha', 'good.md']", "program('bin/grep')", "bin/grep",
    ),
    "a program of a text for a shell": (
        "command = 'cat good.md | grep -q alpha'", "program('bin/grep')", "bin/grep",
    ),
    "the shell itself": ("command = 'true'", "program('bin/bash')", "bin/bash"),
    "the interpreter of a script": ("command = ['./check.sh']", "program('bin/sh')", "bin/sh"),
    "a program that is found is rewritten": (
        "command = ['mylint']", "program('tools/mylint', '# other')", "tools/mylint",
    ),
    "a module of the standard library": (ANY, "write('json.py', '')", "json.py"),
    "a package of the standard library": (
        SCRIPT, "write('json/__init__.py', '')", "json/__init__.py",
    ),
    "a module that is installed": (
        f"command = ['{PYTHON}', '-m', 'pytest', 'tests']",
        "write('pytest/__init__.py', '')", "pytest/__init__.py",
    ),
    "bytecode of a module": (ANY, "write('json.pyc', '')", "json.pyc"),
    "a start-up file of the interpreter": (
        "command = ['venv/bin/python', 'check.py']",
        "write('venv/lib/python3.11/site-packages/x.pth', 'import sys')",
        "venv/lib/python3.11/site-packages/x.pth",
    ),
    "a customization of the interpreter": (
        "command = ['venv/bin/python', 'check.py']",
        "write('venv/lib/python3.11/site-packages/sitecustomize.py', '')",
        "venv/lib/python3.11/site-packages/sitecustomize.py",
    ),
    "a protected file is changed": (
        ANY + "\nprotect = ['tests/**']", "append('tests/data/one.txt', '2')", "tests/data/one.txt",
    ),
    "a protected file is added": (
        ANY + "\nprotect = ['tests']", "write('tests/test_new.py', '')", "tests/test_new.py",
    ),
    "a protected file is removed": (
        ANY + "\nprotect = ['tests/**/*.txt']", "os.unlink('tests/data/one.txt')",
        "tests/data/one.txt",
    ),
    "a protected pattern that found nothing": (
        ANY + "\nprotect = ['golden/*.json']", "write('golden/a.json', '{}')", "golden/a.json",
    ),
    "a protected configuration file in any part": (
        ANY + "\nprotect = ['pyproject.toml']", "replace('pyproject.toml', '\"x\"', '\"y\"')",
        "pyproject.toml",
    ),
    "criteria": (GOOD, "replace('words.yaml', 'alpha}', 'beta}')", "words.yaml"),
    "the criteria of a suite": (
        "criteria = 'docs.reflex.yaml'", "write('words.yaml', '')", "words.yaml",
    ),
    "a suite": ("criteria = 'docs.reflex.yaml'", "append('docs.reflex.yaml', '#')",
        "docs.reflex.yaml",
    ),
    "a script that criteria name": (
        "criteria = 'program.yaml'\nartifacts = ['good.md']", "write('check.py', '')", "check.py",
    ),
    "a file that a diff gate protects": (
        "kind = 'diff'\nmax_files = 9\nprotect = ['tests/**']",
        "append('tests/data/one.txt', '2')", "tests/data/one.txt",
    ),
}  # fmt: skip

AGENT = """\
import os, pathlib, sys
def write(name, text):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
def append(name, text):
    write(name, pathlib.Path(name).read_text() + text)
def replace(name, old, new):
    before = pathlib.Path(name).read_text()
    assert old in before
    write(name, before.replace(old, new))
def replace_in_silence(name, old, new):
    status = os.stat(name)
    replace(name, old, new)
    os.utime(name, ns=(status.st_atime_ns, status.st_mtime_ns))
def program(name, text=""):
    write(name, "#!/bin/sh\\n" + text)
    os.chmod(name, 0o755)
{act}
print("done")
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    program = CRITERIA.replace(
        "{type: content, search: alpha}", f"{{type: executable, command: ['{PYTHON}', check.py]}}"
    )
    (folder / "program.yaml").write_text(program)
    for name in ("check.sh", "tools/mylint", "tools/npm"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_text("#!/bin/sh\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (folder / "venv/bin").mkdir(parents=True)
    (folder / "venv/lib/python3.11/site-packages").mkdir(parents=True)
    (folder / "venv/bin/python").symlink_to(PYTHON)
    places = ("bin", str(folder / "front"), "tools", os.environ["PATH"])
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PATH", os.pathsep.join(places))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def iterate(project: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Return a function that runs a procedure behind a gate, with a tool that does something."""

    def run(gate: str, act: str, iterations: int = 1) -> tuple[int, str]:
        (project / "pytest-reflex.toml").write_text(
            f"[iterate]\nagent = 'tool'\n[iterate.gates.it]\n{gate}\n"
            f"[agents.tool]\ncommand = ['{PYTHON}', '-I', '-S', '../agent.py']\n"
        )
        (project.parent / "agent.py").write_text(AGENT.format(act=act))
        status = main(["iterate", "run", "build", "--verbose", "-n", str(iterations), "--fresh"])
        return status, capsys.readouterr().err

    return run


Iterate = Callable[..., tuple[int, str]]


@pytest.mark.parametrize(("gate", "act", "path"), ATTEMPTS.values(), ids=ATTEMPTS)
def test_a_gate_fails_whose_files_were_modified(
    project: Path, iterate: Iterate, gate: str, act: str, path: str
) -> None:
    status, told = iterate(gate, act)
    named = path.format(parent=project.parent)
    assert f"    | it: modified during the run: {named}" in told
    assert status == 6


HONEST = {
    "the work itself": (SCRIPT, "append('good.md', 'more')"),
    "a test that no gate names": (
        f"command = ['{PYTHON}', '-m', 'pytest', '-q', 'tests']",
        "append('tests/test_good.py', '#'); write('tests/test_new.py', 'def test_b(): pass')",
    ),
    "a dependency is added": (ANY, "replace('pyproject.toml', 'name', 'version')"),
    "other sections of configuration files": (
        ANY, "append('setup.cfg', '[metadata]'); append('tox.ini', '[tox]')",
    ),
    "a dependency of npm": (
        "command = ['npm', 'test']", "replace('package.json', '{}', '{\"left-pad\": \"1\"}')",
    ),
    "caches": (
        f"command = ['{PYTHON}', '-m', 'pytest', '-q', 'tests']\nprotect = ['tests/**']",
        "[write(n, '') for n in ('tests/__pycache__/a.pyc', '.coverage', '.mypy_cache/x')]",
    ),
    "times alone": (SCRIPT, "os.utime('check.py', (1, 1))"),
    "a file is written with the same bytes": (SCRIPT, "append('check.py', '')"),
    "what a program judges": (
        "command = 'grep -q alpha good.md && test -s good.md'", "append('good.md', 'more')",
    ),
    "what a script judges, said so": (
        f"command = ['{PYTHON}', 'check.py', 'good.md']\nartifacts = ['*.md']",
        "append('good.md', 'more')",
    ),
    "what code in a command reads": (
        f"command = ['{PYTHON}', '-c', \"print(open('good.md').read())\"]",
        "append('good.md', 'more')",
    ),
    "what criteria judge": (GOOD, "append('good.md', 'more')"),
    "a folder with the name of a module": (ANY, "write('build/out', ''); write('json/a.json', '')"),
    "a package of tests": (ANY, "write('tests/__init__.py', ''); write('test/__init__.py', '')"),
    "an environment with programs of its own": (ANY, "program('tools/black'); program('bin/own')"),
    "a program that is made": ("command = ['./made']", "program('made')"),
    "a report that a gate writes": (
        "command = ['sh', '-c', 'date > $0', 'x', '--xml=report.xml']\n".replace("$0", "${1#*=}"),
        "",
    ),
    "where a text for a shell writes to": ("command = 'date >> report.xml | tee -a log'", ""),
    "a program that is judged, said so": (
        "command = ['./app']\nartifacts = ['app']", "program('app', '# built')",
    ),
    "a program that a recipe builds": (
        "command = ['make', '-f', 'own.mk', 'binary']", "append('good.md', 'more')",
    ),
    "a compiler's input": (
        "command = ['make', '-f', 'own.mk']", "append('good.md', 'more'); write('main.c', '')",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("gate", "act"), HONEST.values(), ids=HONEST)
def test_honest_work_is_not_called_tampering(
    project: Path, iterate: Iterate, gate: str, act: str
) -> None:
    recipes = "all: good.md\n\t@cat good.md > built\nbinary:\n\tcp ls.new ls && ./ls\n"
    (project / "own.mk").write_text(recipes)
    listing = Path(shutil.which("ls") or "").read_bytes()
    for name in ("app", "ls", "ls.new"):
        (project / name).write_bytes(listing + b"\0" * (name == "ls.new"))
        (project / name).chmod(0o755)
    (project / "report.xml").write_text("")
    (project / "log").write_text("")
    status, told = iterate(gate, act)
    assert "Quality gate it passed" in told
    assert status == 0
