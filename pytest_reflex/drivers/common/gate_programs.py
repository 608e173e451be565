"""What is known of programs that gates run: which files they take orders from, which they judge.

The how-to about gates has the first of these tables; a program that is not here is protected by its
place and by the files that its command names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_reflex.drivers.common.protection import Sections

# Files that a program runs, or reads to know what it runs, in the folder where it is started.
_BUN: Mapping[str, Sections] = {"package.json": ("scripts",), "bunfig.toml": ()}
_MARKDOWNLINT = (
    ".markdownlint.json",
    ".markdownlint.jsonc",
    ".markdownlint.yaml",
    ".markdownlintrc",
)
_TASKS = ("Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml")
_INVOKE: Mapping[str, Sections] = {"tasks.py": (), "invoke.yaml": (), "invoke.py": ()}


def _whole(*names: str) -> dict[str, Sections]:
    return dict.fromkeys(names, ())


def _configs(stem: str, *suffixes: str) -> dict[str, Sections]:
    return _whole(*(f"{stem}.{suffix}" for suffix in suffixes))


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
    "invoke": _INVOKE,
    "inv": _INVOKE,
    "rake": _whole("rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"),
    "task": _whole(*_TASKS),
    "doit": {"dodo.py": (), "pyproject.toml": ("tool.doit",)},
    "poe": {"poe_tasks.toml": (), "pyproject.toml": ("tool.poe",)},
    "pdm": {"pyproject.toml": ("tool.pdm.scripts",)},
    "bun": _BUN,
    "deno": {"deno.json": ("tasks", "test"), "deno.jsonc": ()},
    "composer": {"composer.json": ("scripts",)},
    "cargo": {
        ".cargo/config.toml": (),
        ".cargo/config": (),
        "Cargo.toml": ("test", "lib.test", "package.autotests"),
    },
    "gradlew": _whole(
        "gradle/wrapper/gradle-wrapper.properties", "gradle/wrapper/gradle-wrapper.jar"
    ),
    "mvnw": _whole(
        ".mvn/wrapper/maven-wrapper.properties", ".mvn/maven.config", ".mvn/extensions.xml"
    ),
    "jest": _configs("jest.config", "js", "ts", "mjs", "cjs", "json") | {"package.json": ("jest",)},
    "vitest": _configs("vitest.config", "ts", "js", "mts", "mjs") | _whole("vitest.workspace.ts"),
    "mocha": _configs(".mocharc", "js", "cjs", "yaml", "yml", "json", "jsonc")
    | {"package.json": ("mocha",)},
    "ava": _configs("ava.config", "js", "cjs", "mjs") | {"package.json": ("ava",)},
    "playwright": _configs("playwright.config", "ts", "js", "mjs"),
    "phpunit": _whole("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"),
    "rspec": _whole(".rspec"),
    "eslint": _configs("eslint.config", "js", "mjs", "cjs", "ts")
    | _configs(".eslintrc", "js", "cjs", "json", "yaml", "yml")
    | {".eslintrc": (), "package.json": ("eslintConfig",)},
    "prettier": _configs(".prettierrc", "json", "yaml", "yml", "toml", "js")
    | {".prettierrc": (), ".prettierignore": (), "package.json": ("prettier",)},
    "tsc": _whole("tsconfig.json"),
    "golangci-lint": _configs(".golangci", "yml", "yaml", "toml", "json"),
    "rubocop": _whole(".rubocop.yml"),
    "black": {"pyproject.toml": ("tool.black",)},
    "isort": {".isort.cfg": (), "pyproject.toml": ("tool.isort",), "setup.cfg": ("isort",)},
    "flake8": {".flake8": (), "setup.cfg": ("flake8",), "tox.ini": ("flake8",)},
    "pylint": {
        ".pylintrc": (),
        "pylintrc": (),
        "pyproject.toml": ("tool.pylint",),
    },
    "pyright": {"pyrightconfig.json": (), "pyproject.toml": ("tool.pyright",)},
    "shellcheck": _whole(".shellcheckrc"),
    "yamllint": _whole(".yamllint", ".yamllint.yaml", ".yamllint.yml"),
    "markdownlint": _whole(*_MARKDOWNLINT),
    "markdownlint-cli2": _whole(
        *_MARKDOWNLINT, ".markdownlint-cli2.jsonc", ".markdownlint-cli2.yaml"
    ),
    "codespell": {".codespellrc": (), "pyproject.toml": ("tool.codespell",)},
    "vale": _whole(".vale.ini"),
    "ruff": {"ruff.toml": (), ".ruff.toml": (), "pyproject.toml": ("tool.ruff",)},
    "coverage": {
        ".coveragerc": (),
        "pyproject.toml": ("tool.coverage",),
        "setup.cfg": ("coverage:run", "coverage:report"),
        "tox.ini": ("coverage:run", "coverage:report"),
    },
}
# Programs that also read such files from the folders below.
READ_ANYWHERE = frozenset(
    {"ruff", "eslint", "prettier", "rubocop", "markdownlint", "markdownlint-cli2"}
)
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
