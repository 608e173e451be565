"""What code of ours may call: nothing runs text as code, and one room starts processes."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent.parent / "pytest_reflex"
SOURCES = {str(p.relative_to(PACKAGE)): p.read_text("utf-8") for p in PACKAGE.rglob("*.py")}
# Only where a name of interest occurs at all is it worth a parse.
OF_INTEREST = re.compile(
    r"\b(?:eval|exec|compile|__import__|execfile|yaml\.|shell=|typ=|subprocess\.|os\.|kill|signal\."
    r"|pickle|marshal|shelve|dill|joblib|codeop|imp\b|pty\b)"
)

AS_CODE = {"eval", "exec", "compile", "__import__", "execfile"}
LOADERS = {
    *("pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "jsonpickle"),
    *("code", "codeop", "imp", "pty"),
}
STARTS = {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"}
STARTS_BY_OS = ("fork", "system", "popen", "exec", "spawn", "posix_spawn")
UNSAFE_YAML = {"load", "load_all", "unsafe_load", "full_load", "dump"}


@cache
def modules() -> dict[str, ast.Module]:
    return {path: ast.parse(text) for path, text in SOURCES.items() if OF_INTEREST.search(text)}


@cache
def names_called(tree: ast.Module) -> list[tuple[str, ast.Call]]:
    """Return each call with the dotted name of what is called."""
    return [(name_of(node.func), node) for node in ast.walk(tree) if isinstance(node, ast.Call)]


def name_of(node: ast.expr) -> str:
    """Return the source of what is called; that of a dotted name takes a hundredth of the time."""
    parts: list[str] = []
    inner = node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    if not isinstance(inner, ast.Name):
        return ast.unparse(node)
    return ".".join([inner.id, *reversed(parts)])


def imported(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def runs_data(tree: ast.Module) -> bool:
    """Return whether a module could run what is data: as code, by a shell, or by loading it."""
    calls = names_called(tree)
    names = {name for name, _ in calls}
    # What is said of a command starts none.
    keywords = [k for name, call in calls if name != "CheckCommand" for k in call.keywords]
    return bool(
        names & AS_CODE
        or names & {f"yaml.{name}" for name in UNSAFE_YAML}
        or imported(tree) & LOADERS
        or any(k.arg == "shell" for k in keywords)
        or any(k.arg == "typ" and "unsafe" in ast.unparse(k.value) for k in keywords)
    )


# Why it may: `compile` reports whether a text is Python; what it makes is thrown away.
NAMED = {"checks/code/sources.py"}


@pytest.mark.long
def test_t22_nothing_runs_what_is_data() -> None:
    assert {path for path, tree in modules().items() if runs_data(tree)} == NAMED


@pytest.mark.parametrize(
    "source",
    ["eval(x)", "exec(x)", "import pickle", "from marshal import loads", "yaml.load(x)",
     "subprocess.run(x, shell=True)", "YAML(typ='unsafe')", "__import__(x)"],
)  # fmt: skip
def test_t22_the_gate_sees_what_it_looks_for(source: str) -> None:
    assert runs_data(ast.parse(source))


def test_p8_two_modules_start_programs() -> None:
    found = {
        path
        for path, tree in modules().items()
        for name, _ in names_called(tree)
        if name in {f"subprocess.{start}" for start in STARTS}
    }
    assert found == {"process/spawn.py", "process/guard.py"}


@pytest.mark.long
def test_p8_one_module_forks_and_nothing_else_replaces_processes() -> None:
    found = {
        path
        for path, tree in modules().items()
        for name, _ in names_called(tree)
        if name.startswith("os.") and name[3:].startswith(STARTS_BY_OS)
    }
    assert found == {"process/fork.py"}


@pytest.mark.long
def test_p7_who_may_send_signals() -> None:
    senders = ("os.kill", "signal.pidfd_send_signal", "signal.raise_signal")
    found = {
        path
        for path, tree in modules().items()
        for name, call in names_called(tree)
        if name.startswith(senders) or any(ast.unparse(a).startswith(senders) for a in call.args)
    }
    # The last one stops itself only.
    assert found == {"process/group.py", "process/guard_child.py", "process/signals.py"}
