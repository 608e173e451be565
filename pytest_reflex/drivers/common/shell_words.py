"""Scripts and shell texts: the simple commands in them, and what is known of their programs.

The how-to about gates has the first of these tables; a program that is not here is protected by its
place and by the files that its command names.

Limits: of what a shell makes while it runs, only variables that were given a plain text and the
folder of a script are put in; everything else stays as written.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from pytest_reflex.drivers.common.protection import Sections
from pytest_reflex.model.json_fault import json_object

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


_LONGEST_SCRIPT = 256_000
_OPERATOR = re.compile(r"[;&|()\n]+")
_PUNCTUATION = "();<>|&\n"
_SUBSTITUTED = re.compile(r"\$\(([^()]+)\)|`([^`]+)`")
_SELF = r"""["']?\$(?:0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(?:\[0\])?\})["']?"""
_OWN_FOLDER = re.compile(rf"\$\(\s*dirname\s+(?:--\s+)?{_SELF}\s*\)|\$\{{0%/\*\}}")
_SET = re.compile(
    r"""(?:^|[;&])\s*(?:export\s+|readonly\s+|local\s+)?(\w+)=("[^"$`\n]*"|'[^'\n]*'|[^\s"'$`;|&()]+)\s*(?=$|[;&])""",
    re.MULTILINE,
)
_MAKE_SET = re.compile(
    r"^(?:export |override )?([\w.-]+)[ \t]*(?::{0,3}|\?)=[ \t]*(.{0,300}?)[ \t]*$", re.MULTILINE
)
_MOST_VARIABLES = 200
_LOOP_WORDS = frozenset({"do", "then", "if", "!", "exec", "time"})
FOLDER_OPTIONS = frozenset({"cd", "pushd", "-C", "--directory", "--prefix", "--rootdir"})
FILE_OPTIONS = frozenset({"-f", "--file", "--makefile", "-c", "--config", "-s", "--noxfile"})


def with_folder(text: str, folder: str) -> str:
    """Return a script with its own folder put in where it asks for that."""
    text = _OWN_FOLDER.sub(lambda _: folder, text)
    own = re.escape(folder)
    asked = rf"""\$\(\s*cd\s+(?:--\s+)?["']?({own}[\w./-]*)["']?[^)\n]*(?:&&|;)\s*pwd[^)]*\)"""
    return re.sub(asked, lambda found: found[1], text)


def with_variables(text: str) -> str:
    """Return a text for a shell with its variables put in that have a plain text."""
    found = {name: value.strip("\"'") for name, value in _SET.findall(text)[:_MOST_VARIABLES]}
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda use: found.get(use[1] or use[2], use[0]), text)


def make_text(text: str) -> str:
    """Return a makefile with the variables put in that it sets."""
    found = dict(reversed(_MAKE_SET.findall(text)[:_MOST_VARIABLES]))
    for _ in range(3):
        text = re.sub(r"\$[({]([\w.-]+)[)}]", lambda use: found.get(use[1], use[0]), text)
        if len(text) > 1_000_000:
            break
    return text


def simple_commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each simple command in a text for a shell."""
    lines = _without_comments(text)
    words = _lex("\n".join(lines))
    # A quote that is never closed, as in a comment behind a command, spoils its own line only.
    for part in [words] if words is not None else map(_words_of_line, lines):
        yield from _between_operators(part)
    for inner in _SUBSTITUTED.findall("\n".join(lines)):
        yield from simple_commands("".join(inner))


def split_options(name: str, words: Sequence[str]) -> Iterator[str]:
    """Yield words with options parted from their values: `--file=x`, and `-Cx` of make."""
    for word in words:
        option, equals, value = word.partition("=")
        if equals and option in FILE_OPTIONS | FOLDER_OPTIONS:
            yield from (option, value)
        elif name == "make" and len(word) > 2 and word.startswith(("-C", "-f")):
            yield from (word[:2], word[2:])
        else:
            yield word


def recipes(text: str) -> Iterator[str]:
    """Yield the recipe lines of a makefile."""
    for line in _without_comments(text):
        if line.startswith("\t"):
            yield line.strip().lstrip("@-+")


def find_includes(text: str) -> Iterator[str]:
    """Yield the files that a makefile includes."""
    for line in _without_comments(text):
        words = line.split()
        if words[0] in ("include", "-include", "sinclude"):
            yield from words[1:]


def find_shell_scripts(commands: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the names of files whose content a shell or interpreter is given to run."""
    fed = any(len(words) == 1 and is_interpreter(words[0]) for words in commands)
    for words in commands:
        if words[:1] == ["eval"]:
            yield from re.findall(r"[\w./~+-]+", " ".join(words[1:]))
        elif fed and words[:1] == ["cat"]:
            yield from words[1:]


def run_in_loops(commands: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the patterns in `for NAME in PATTERN` of files that the loop runs."""
    for words in commands:
        if len(words) < 4 or words[0] != "for" or words[2] != "in":
            continue
        uses = {f"${words[1]}", f"${{{words[1]}}}"}
        if any(_runs(command, uses) for command in commands):
            yield from (word for word in words[3:] if "*" in word or "?" in word)


def _runs(words: Sequence[str], names: set[str]) -> bool:
    first = next((number for number, word in enumerate(words) if word in names), None)
    if first is None:
        return False
    before = [word for word in words[:first] if word not in _LOOP_WORDS]
    return not before or any(word in (".", "source") or is_interpreter(word) for word in before[:1])


def is_interpreter(word: str) -> bool:
    """Return whether a program runs the text that it is given."""
    name = word.rpartition("/")[2]
    return name in SHELLS or name in OTHER_INTERPRETERS or bool(PYTHON.fullmatch(name))


def package_scripts(text: str) -> Iterator[str]:
    """Yield the scripts of a package.json."""
    scripts = (json_object(text) or {}).get("scripts")
    for script in scripts.values() if isinstance(scripts, dict) else ():
        if isinstance(script, str):
            yield script


def _between_operators(words: Sequence[str]) -> Iterator[list[str]]:
    command: list[str] = []
    for word in words:
        if _OPERATOR.fullmatch(word):
            yield command
            command = []
        else:
            command.append(word)
    yield command


def _words_of_line(line: str) -> list[str]:
    words = _lex(line)
    return re.sub(r"[;&|()\"'`]", " ", line).split() if words is None else words


def _lex(text: str) -> list[str] | None:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        return list(lexer)
    except ValueError:
        return None


def _without_comments(text: str) -> list[str]:
    lines = text.replace("\\\n", " ").split("\n")
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def contents(path: str, most: int = _LONGEST_SCRIPT) -> str:
    """Return the beginning of a file as text; empty where it cannot be read."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(most).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def first_line(path: str) -> list[str]:
    """Return the interpreter that a script names, with its arguments."""
    line = contents(path, 512).partition("\n")[0]
    return line[2:].split() if line.startswith("#!") else []


def is_built(path: str) -> bool:
    """Return whether a program looks as if a compiler made it."""
    return not os.path.islink(path) and "\0" in contents(path, 512)


def join_path(folder: str, name: str) -> str:
    """Return the path of a name; empty where it can be none."""
    if not name or "\0" in name or "\n" in name or len(name) > 1_000:
        return ""
    return os.path.normpath(os.path.join(folder, os.path.expanduser(name)))
