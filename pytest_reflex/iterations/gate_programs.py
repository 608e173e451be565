"""What is known of programs that gates run: which files they take orders from, which they judge.

The how-to about gates has the first of these tables; a program that is not here is protected by its
place and by the files that its command names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_reflex.iterations.protection import Sections

# Files that a program runs, or reads to know what it runs, in the folder where it is started.
READS: Mapping[str, Mapping[str, Sections]] = {
    "make": {"GNUmakefile": (), "makefile": (), "Makefile": ()},
    "just": {"justfile": (), "Justfile": (), ".justfile": ()},
    "npm": {"package.json": ("scripts",), ".npmrc": ()},
    "yarn": {"package.json": ("scripts",), ".yarnrc": (), ".yarnrc.yml": ()},
    "pnpm": {"package.json": ("scripts",), ".npmrc": ()},
    "tox": {
        "tox.ini": (),
        "tox.toml": (),
        "pyproject.toml": ("tool.tox",),
        "setup.cfg": ("tox:tox",),
    },
    "nox": {"noxfile.py": ()},
    "hatch": {"hatch.toml": (), "pyproject.toml": ("tool.hatch",)},
    "pre-commit": {".pre-commit-config.yaml": ()},
    "mypy": {
        "mypy.ini": (),
        ".mypy.ini": (),
        "pyproject.toml": ("tool.mypy",),
        "setup.cfg": ("mypy",),
    },
    "ruff": {"ruff.toml": (), ".ruff.toml": (), "pyproject.toml": ("tool.ruff",)},
    "coverage": {
        ".coveragerc": (),
        "pyproject.toml": ("tool.coverage",),
        "setup.cfg": ("coverage:run", "coverage:report"),
        "tox.ini": ("coverage:run", "coverage:report"),
    },
}
_CONFIG = ("-c", "--config", "--config-file", "--rcfile")
# Programs that judge, read or compile the files they are given; options name files that say how.
JUDGES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg", "jq", "awk", "sed"), ("-f", "--file")),
    **dict.fromkeys(("test", "[", "[[", "ls", "stat", "wc", "cat", "head", "tail", "sort"), ()),
    **dict.fromkeys(("find", "tee", "touch", "cp", "mv", "rm", "cd", "xmllint"), ()),
    **dict.fromkeys(("cc", "gcc", "g++", "clang", "clang++", "rustc", "javac", "tsc", "go"), ()),
    **dict.fromkeys(("ruff", "black", "flake8", "isort", "mypy", "pylint", "pyright"), _CONFIG),
    **dict.fromkeys(("eslint", "prettier", "shellcheck", "yamllint", "codespell"), _CONFIG),
    **dict.fromkeys(("markdownlint", "markdownlint-cli2", "vale", "pymarkdown"), _CONFIG),
    "pytest-reflex": ("--criteria",),
}
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
PYTHON = re.compile(r"(python|pypy)\d*(\.\d+)*")
OTHER_INTERPRETERS = frozenset({"node", "perl", "ruby", "deno", "bun", "php", "lua", "Rscript"})
STARTERS = frozenset({"exec", "env", "timeout", "nice", "nohup", "xargs", "command", "sudo"})
# Options behind which a command says where it writes to: it may write there each time.
OUTPUT = re.compile(
    r"-o|(?!.*config)--?[\w-]*(out|junit|report|html|xml|log|save|dump|dest|write)[\w-]*"
)
