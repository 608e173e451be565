"""What a command runs: its programs, its scripts, and the files that configure these.

It is read off the words of a command and of the shell scripts, recipes and package scripts that it
leads to. Limits: what a program runs by itself is known for those in `READS` alone; a word that is
made while a shell runs (`$(...)`, variables, wildcards) names nothing here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from glob import glob, has_magic
from itertools import pairwise
from pathlib import Path

from pytest_reflex.drivers.common.protection import Sections
from pytest_reflex.drivers.common.shell_words import (
    FILE_OPTIONS,
    FOLDER_OPTIONS,
    JUDGES,
    OTHER_INTERPRETERS,
    OUTPUT,
    PYTHON,
    READ_ANYWHERE,
    READS,
    SHELLS,
    STARTERS,
    contents,
    find_includes,
    find_shell_scripts,
    first_line,
    is_built,
    join_path,
    make_text,
    package_scripts,
    recipes,
    run_in_loops,
    simple_commands,
    split_options,
    with_folder,
    with_variables,
)

_KEYWORDS = frozenset({"!", "{", "if", "then", "elif", "else", "while", "until", "do", "time"})
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_DEEPEST = 4


class CommandFiles:
    """Collects what commands rely on; they start in the project, with the environment's PATH.

    `named` are files that stand as words in a command, `written` those that it says it writes;
    `files` those that it runs or that configure it, `programs` the programs with every earlier
    place on the PATH. `module_folders` are those in which its Python looks for modules first,
    `pythons` the interpreters.
    """

    def __init__(self, project: Path, environment: Mapping[str, str]) -> None:
        self._project = os.path.abspath(project)
        self._places = environment.get("PATH", os.defpath).split(os.pathsep)
        self._folders = [self._project]
        self._depth = 0
        self._scanned, self._followed = set[str](), set[str]()
        self.files: dict[str, Sections] = {}
        self.named, self.programs = set[str](), set[str]()
        self.written, self.patterns = set[str](), set[str]()
        self.anywhere: dict[str, Sections] = {}
        self.module_folders = {self._project}
        self.pythons = set[str]()
        for place in filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)):
            self.module_folders.add(self._full(place))

    def add(self, command: str | Sequence[str]) -> None:
        """Take in what a command runs: an argv, or a text for a shell."""
        if isinstance(command, str):
            self._text(command, direct=True)
        else:
            self._argv(command, direct=True)

    def _text(self, text: str, *, direct: bool) -> None:
        """Take in a text for a shell; of one that a command only leads to, what it runs."""
        commands = [*simple_commands(with_variables(text))]
        self._script([*find_shell_scripts(commands)], is_shell=True)
        for pattern in run_in_loops(commands):
            self._run_by_pattern(pattern)
        for words in commands:
            while words and words[0] in _KEYWORDS:
                words = words[1:]
            self._argv(words, direct=direct)

    def _run_by_pattern(self, pattern: str) -> None:
        for folder in self._folders:
            if path := join_path(folder, pattern):
                self.patterns.add(path)
                self._script(sorted(glob(path)), is_shell=True)

    def _argv(self, words: Sequence[str], *, direct: bool) -> None:
        first = 0
        while first < len(words) and (found := _ASSIGNMENT.fullmatch(words[first])):
            if found[1] == "PATH":
                self._put_before(found[2].split(os.pathsep))
            elif found[1] == "PYTHONPATH":
                self.module_folders.update(
                    map(self._full, filter(None, found[2].split(os.pathsep)))
                )
            elif found[1] in ("BASH_ENV", "ENV", "MAKEFILES"):
                self._script(found[2].split(), is_shell=True)
            first += 1
        if not (words := words[first:]):
            return
        self._program(words[0], is_command=True)
        for word in words[1:] if words[0] in STARTERS else ():
            self._program(word, is_command=True)
        for number, word in enumerate(words):
            self._handle(os.path.basename(word), words[number + 1 :], direct=direct)
        if direct:
            self._operands(words)

    def _operands(self, words: Sequence[str]) -> None:
        """Take in the files and programs that words name, but no files that a program judges."""
        config_options: tuple[str, ...] | None = None
        before = ""
        for number, word in enumerate(words):
            option, _, value = word.partition("=")
            if before.endswith(">") or OUTPUT.fullmatch(before):
                self._add_written(word)
            elif value and OUTPUT.fullmatch(option):
                self._add_written(value)
            elif config_options is None or before in config_options:
                self._name(word)
            if option.startswith("-") and (config_options is None or option in config_options):
                self._name(value or word[2:])
            if number:
                self._program(word, is_command=os.access(self._full(word), os.X_OK))
            name = os.path.basename(word)
            if name in JUDGES and (number == 0 or before == "-m" or self._is_program(word)):
                config_options = JUDGES[name]
            before = word

    def _add_written(self, word: str) -> None:
        self.written.update(filter(None, (join_path(folder, word) for folder in self._folders)))

    def _name(self, word: str) -> None:
        for folder in self._folders:
            for name in (word, word.partition("::")[0], word.removeprefix("@")):
                path = join_path(folder, name)
                if path and os.path.isfile(path):
                    self.named.add(path)

    def _handle(self, name: str, rest: Sequence[str], *, direct: bool) -> None:
        """Take in what a program of this name, with these words behind it, runs or reads."""
        self._folder_options(name, rest)
        for option, value in pairwise(split_options(name, rest)):
            if option in JUDGES.get(name, ()):
                self._read_option(value)
            elif name == "env" and option in ("-S", "--split-string"):
                self._text(value, direct=direct)
        if name in READ_ANYWHERE:
            for file, sections in READS[name].items():
                held = self.anywhere.get(file, sections)
                self.anywhere[file] = (*held, *sections) if held and sections else ()
        if name in READS:
            for folder in self._folders:
                for file, sections in READS[name].items():
                    self._read(join_path(folder, file), sections)
            for option, value in pairwise(split_options(name, rest)):
                if option in FILE_OPTIONS:
                    self._read_option(value)
        if name in SHELLS:
            self._shell(rest, direct=direct)
        elif name in (".", "source"):
            self._script(rest[:1], is_shell=True)
        elif PYTHON.fullmatch(name):
            self._python(rest)
        elif name in OTHER_INTERPRETERS:
            self._script([word for word in rest if not word.startswith("-")][:1])
        elif name == "pytest":
            self._plugins(rest)

    def _folder_options(self, name: str, rest: Sequence[str]) -> None:
        pairs = pairwise((name, *split_options(name, rest)))
        for value in [value for option, value in pairs if option in FOLDER_OPTIONS]:
            folder = join_path(self._folders[-1], value)
            if folder and os.path.isdir(folder) and folder not in self._folders:
                self._folders.append(folder)

    def _read_option(self, value: str) -> None:
        for folder in self._folders:
            if (path := join_path(folder, value)) and os.path.isfile(path):
                self._read(path, ())

    def _add_included(self, name: str) -> None:
        """Take in what a makefile includes, there or not: `-include` may come to something."""
        for folder in self._folders:
            path = join_path(folder, name)
            if path and has_magic(path):
                self.patterns.add(path)
            for found in glob(path) if path and has_magic(path) else filter(None, [path]):
                if found not in self.files:
                    self._read(found, ())

    def _read(self, path: str, sections: Sections) -> None:
        """Take in a file that says what is run, and what it says."""
        held = self.files.get(path)
        if held is None:
            self.files[path] = sections
        elif held:
            self.files[path] = tuple(dict.fromkeys((*held, *sections))) if sections else ()
        if path in self._followed:
            return
        self._followed.add(path)
        self._depth += 1
        name = os.path.basename(path)
        if name == "package.json":
            self._put_before([os.path.join(os.path.dirname(path), "node_modules", ".bin")])
            for text in package_scripts(contents(path)):
                self._text(text, direct=False)
        elif name.lower().endswith("makefile") or name.endswith(".mk"):
            text = make_text(contents(path))
            for recipe in recipes(text):
                self._text(recipe, direct=False)
            for included in find_includes(text):
                self._add_included(included)
        self._depth -= 1

    def _shell(self, rest: Sequence[str], *, direct: bool) -> None:
        for number, word in enumerate(rest):
            if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
                for text in rest[number + 1 : number + 2]:
                    self._text(text, direct=direct)
                return
            # The last letter of `-euo` takes the next word: `pipefail`.
            takes_next = number > 0 and re.fullmatch(r"[-+]\w*o", rest[number - 1])
            if not word.startswith(("-", "+")) and not takes_next:
                self._script([word], is_shell=True)
                return

    def _python(self, rest: Sequence[str]) -> None:
        skipped = False
        for number, word in enumerate(rest):
            if skipped:
                skipped = False
            elif word == "-c":
                return
            elif word == "-m":
                for module in rest[number + 1 : number + 2]:
                    self.module(module)
                return
            elif word in ("-W", "-X"):
                skipped = True
            elif not word.startswith("-"):
                self._script([word, os.path.join(word, "__main__.py")])
                for folder in self._folders:
                    if (path := join_path(folder, word)) and os.path.isfile(path):
                        self.module_folders.add(os.path.dirname(path))
                    elif path and os.path.isdir(path):
                        self.module_folders.add(path)
                return

    def _plugins(self, rest: Sequence[str]) -> None:
        for option, value in pairwise(rest):
            if option == "-p" and not value.startswith("no:"):
                self.module(value)
        if any(word.startswith("--cov") for word in rest):
            self._handle("coverage", (), direct=False)

    def module(self, name: str) -> None:
        """Take in the files of a module of the project, by its dotted name."""
        parts = name.split(".")
        for folder in sorted(self.module_folders):
            for count in range(1, len(parts) + 1):
                package = os.path.join(folder, *parts[:count])
                last = ("__main__.py",) if count == len(parts) else ()
                for path in (f"{package}.py", *(f"{package}/{n}" for n in ("__init__.py", *last))):
                    if os.path.isfile(path):
                        self.files.setdefault(path, ())

    def _script(self, words: Sequence[str], *, is_shell: bool = False) -> None:
        for word in words:
            for folder in self._folders:
                path = join_path(folder, word)
                if path and os.path.isfile(path):
                    self.files.setdefault(path, ())
                    if os.path.basename(path) == "activate":
                        self._put_before([os.path.dirname(path)])
                    elif is_shell or first_line(path):
                        self._scan(path, is_shell=is_shell)

    def _program(self, word: str, *, is_command: bool = False) -> None:
        """Take in a program by its path or by its name, with all places where it is looked for."""
        if os.sep in word:
            for folder in self._folders if is_command else ():
                path = join_path(folder, word)
                if path and os.path.isfile(path):
                    self._add_program(path)
            return
        passed = []
        for path in self._candidates(word):
            passed.append(path)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                self.programs.update(passed)
                self._add_program(path)
                return

    def _is_program(self, word: str) -> bool:
        return any(os.access(path, os.X_OK) for path in self._candidates(word))

    def _candidates(self, word: str) -> Iterator[str]:
        for place in self._places if word and "\0" not in word else ():
            yield os.path.join(self._full(place), word)

    def _add_program(self, path: str) -> None:
        if self._depth and path.startswith(self._project + os.sep) and is_built(path):
            return  # what a script of the project runs and a compiler made is what is judged
        self.programs.add(path)
        if PYTHON.fullmatch(os.path.basename(path)):
            self.pythons.add(path)
        self._scan(path)

    def _scan(self, path: str, *, is_shell: bool = False) -> None:
        """Take in what a script names: its interpreter, and what it runs where that is a shell."""
        if path in self._scanned or self._depth >= _DEEPEST:
            return
        self._scanned.add(path)
        self._depth += 1
        words = first_line(path)
        if words and os.path.basename(words[0]) == "env":
            self._program(words[0], is_command=True)
            words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        if words:
            self._program(words[0], is_command=True)
            name = os.path.basename(words[0])
            is_shell = is_shell or name in SHELLS
            if PYTHON.fullmatch(name) and path.startswith(self._project + os.sep):
                self.module_folders.add(os.path.dirname(path))
        if is_shell:
            self._text(with_folder(contents(path), os.path.dirname(path)), direct=False)
        self._depth -= 1

    def _put_before(self, places: Sequence[str]) -> None:
        for name in ("$PWD", "${PWD}"):
            places = [place.replace(name, self._project) for place in places]
        own = [place for place in places if "$" not in place]
        self._places = [*own, *(place for place in self._places if place not in own)]

    def _full(self, path: str) -> str:
        return os.path.normpath(os.path.join(self._project, path))
