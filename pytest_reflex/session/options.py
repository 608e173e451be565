"""The command-line options and ini keys of a pytest session, declared once."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from pytest_reflex.session.controller import Controller
    from pytest_reflex.session.runtime import Runtime

GROUP = "reflex", "pytest-reflex: rules as checks, and the gate over them"
LOOP_GROUP = "reflex-loop", "pytest-reflex: the loop over a session, until its gate passes"
MARK = "reflex_rule"
MARKERS = (
    f"{MARK}(id, severity='fail', weight, phase, description): this test is a check of a rule.",
    "reflex: a check of pytest-reflex.",
    *(f"reflex_{word}: a check of a rule of severity {word}." for word in ("fail", "warn", "info")),
    *(f"reflex_{word.lower()}: a check of a rule of phase {word}." for word in "AB"),
)


class Option:
    """One option; `ini` is the type of its ini key, "" where it has none.

    What names one artifact and its criteria has no ini key: what is permanent belongs in a
    ``*.reflex.yaml`` file. `loops` is True for the options of ``--reflex-loop``, which a session
    inside a loop never sees. (A plain class: every pytest session pays for this module, and to make
    a dataclass takes a millisecond.)
    """

    __slots__ = ("flag", "help", "ini", "key", "kind", "loops", "metavar")

    def __init__(
        self,
        name: str,
        kind: Literal["text", "list", "switch", "level", "optional"],
        help: str,  # noqa: A002  # as pytest and argparse call it
        metavar: str = "",
        ini: Literal["", "string", "linelist", "bool"] = "",
        *,
        loops: bool = False,
    ) -> None:
        self.flag = f"--reflex-{name}"
        self.key = f"reflex_{name.replace('-', '_')}"  # of the ini file and of config.option
        self.kind = kind
        self.help = help
        self.metavar = metavar
        self.ini = ini
        self.loops = loops


OPTIONS = (
    Option(
        "criteria", "text", "criteria to check against: a template's name or a file", "NAME|FILE"
    ),
    Option("artifact", "list", "file or folder to check (repeatable)", "PATH"),
    Option("phase", "level", "level of --reflex-criteria: A is basic, B adds stricter rules"),
    Option("threshold", "text", "threshold of --reflex-criteria, 0 to 1", "F"),
    Option("var", "list", "value of a criteria variable (repeatable)", "K=V", "linelist"),
    Option("judge", "text", "agent that grades LLM-graded rules (default: none)", "NAME", "string"),
    Option(
        "no-judge-cache",
        "switch",
        "ask the LLM judge again, and keep none of its votes",
        ini="bool",
    ),
    Option("json", "text", "write the verdict to PATH as one JSON document", "PATH", "string"),
    Option(
        "allow-partial",
        "switch",
        "do not fail the gate for deselected rules: it is reported as partial, not enforced "
        "(where the environment variable CI is set, only on the command line itself)",
        ini="bool",
    ),
    Option(
        "outside",
        "switch",
        "let artifacts of suites, and links in artifacts that are folders, lead anywhere",
    ),
    Option(
        "standard-protocol",
        "switch",
        "run every check through pytest's own protocol, for plugins that need each of its hooks",
        ini="bool",
    ),
    Option(
        "loop",
        "switch",
        "repeat the session, with an agent fixing the artifacts, until its gate passes",
        loops=True,
    ),
    Option(
        "agent",
        "list",
        "agent of all steps, or of one: a preset, or a table of `agents` (default: offline)",
        "[STEP=]NAME",
        loops=True,
    ),
    Option("task", "text", "the task for the agent", "TEXT", loops=True),
    Option("alias", "text", "name of the loop (default: made from the task)", "NAME", loops=True),
    Option("max-iterations", "text", "iterations at most (default: 4)", "N", loops=True),
    Option(
        "budget",
        "list",
        "limits of spending: usd, tokens, calls, seconds; a number alone is usd; +N adds to a "
        "limit",
        "KEY=N[,KEY=N]",
        loops=True,
    ),
    Option("yes", "switch", "confirm criteria and limits without a question", loops=True),
    Option(
        "may-change",
        "list",
        "files that an agent may change besides the artifacts (repeatable)",
        "GLOB",
        loops=True,
    ),
    Option(
        "allow",
        "list",
        "with --reflex-resume: a module that the agent added and may keep (repeatable)",
        "FILE",
        loops=True,
    ),
    Option(
        "accept-changes",
        "switch",
        "with --reflex-resume: accept the project as it is now",
        loops=True,
    ),
    Option(
        "events",
        "text",
        "append each event of the loop as a line of JSON; - is standard output, for nothing else",
        "PATH|-",
        loops=True,
    ),
    Option(
        "resume", "optional", "continue a loop (default: the one that ran)", "ALIAS", loops=True
    ),
)
LOOP = "reflex_loop"
PARTIAL = "--reflex-allow-partial"
# What of kept votes a worker may use (in its input), and what it has written (in its output).
VOTES = "reflex_votes"
ENDED = "reflex_ended"  # in the output of an xdist worker that pytest.exit has ended
IN_CI: pytest.StashKey[bool] = pytest.StashKey()
RUNTIME: pytest.StashKey[Runtime] = pytest.StashKey()
CONTROLLER: pytest.StashKey[Controller] = pytest.StashKey()
ARTIFACTS = "reflex_artifacts"
# Set in a session that a loop has started: such a session loops no further.
INSIDE = "PYTEST_REFLEX_SESSION_FOLDER"


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and ini key."""
    usual, of_loop = parser.getgroup(*GROUP), parser.getgroup(*LOOP_GROUP)
    for option in OPTIONS:
        group = of_loop if option.loops else usual
        # pytest looks through all options for the name of a `dest` that it has to make up.
        about: dict[str, Any] = {"dest": option.key, "default": None, "help": option.help}
        if option.kind == "switch":
            group.addoption(option.flag, **about | {"action": "store_true", "default": False})
        elif option.kind == "optional":
            group.addoption(option.flag, nargs="?", const="", metavar=option.metavar, **about)
        elif option.kind == "level":
            group.addoption(option.flag, choices=("A", "B"), **about)
        else:
            action = "append" if option.kind == "list" else "store"
            refuse = partial(_refuse_empty, option.flag)
            group.addoption(
                option.flag, action=action, type=refuse, metavar=option.metavar, **about
            )
        if option.ini:
            default: list[str] | None = [] if option.ini == "linelist" else None
            parser.addini(option.key, option.help, type=option.ini, default=default)
    purpose = "files and folders that --reflex-loop may change, besides the artifacts of suites"
    parser.addini(ARTIFACTS, purpose, type="linelist", default=[])


def _refuse_empty(flag: str, value: str) -> str:
    """Refuse an empty value (a shell variable that is not set): it must not mean "not given"."""
    if value.strip():
        return value
    raise pytest.UsageError(f"{flag} was given without a value")


def add_markers(config: pytest.Config) -> None:
    """Declare the mark of users' tests, and those by which -m selects our checks."""
    for line in MARKERS:
        config.addinivalue_line("markers", line)


def any_given(config: pytest.Config) -> bool:
    """Return whether a reflex option stands on the command line."""
    return any(getattr(config.option, option.key, None) for option in OPTIONS)


def wants_loop(config: pytest.Config) -> bool:
    """Return whether sessions are to be driven; raises UsageError for options without the loop."""
    option = config.option
    if getattr(option, LOOP):
        only_tells = getattr(option, "help", False) or getattr(option, "version", 0)
        return not (only_tells or INSIDE in os.environ or hasattr(config, "workerinput"))
    for one in OPTIONS:
        if one.loops and getattr(option, one.key) not in (None, False):
            raise pytest.UsageError(f"{one.flag} needs --reflex-loop")
    return False


def text(config: pytest.Config, key: str) -> str:
    """Return a text option, or its ini key, or ""."""
    return str(getattr(config.option, key) or _ini(config, key) or "")


def texts(config: pytest.Config, key: str) -> list[str]:
    """Return the values of a repeatable option; those of the ini key come first."""
    return [*(_ini(config, key) or []), *(getattr(config.option, key) or [])]


def switch(config: pytest.Config, key: str) -> bool:
    return bool(getattr(config.option, key) or _ini(config, key))


def variables(config: pytest.Config) -> dict[str, Any]:
    """Read --reflex-var K=V and its ini key; a value is typed as YAML 1.2 types a plain scalar.

    Raises UsageError.
    """
    from pytest_reflex.criteria.diagnostics import parse_variable

    return dict(map(parse_variable, texts(config, "reflex_var")))


def of_judge(config: pytest.Config) -> dict[str, Any]:
    """Return the settings of the judge that the options of the session give."""
    return {"judge_cache": False} if switch(config, "reflex_no_judge_cache") else {}


def clears_cache(config: pytest.Config) -> bool:
    """Return whether pytest begins with an empty cache; a worker is not the first that begins."""
    return bool(getattr(config.option, "cacheclear", False)) and not hasattr(config, "workerinput")


def controller_votes(config: pytest.Config) -> dict[str, Any] | None:
    """Return what a worker's controller knew of kept votes before it began, None elsewhere."""
    known = getattr(config, "workerinput", {}).get(VOTES)
    return None if known is None else {name: tuple(stamp) for name, stamp in known.items()}


def allows_partial(config: pytest.Config) -> bool:
    """Return whether deselected rules are excused.

    In CI only the flag counts that whoever started pytest typed: not one of `addopts`, of
    PYTEST_ADDOPTS or of the ini key, which a change of the project brings along.
    """
    if in_ci(config):
        return PARTIAL in map(str, config.invocation_params.args)
    return switch(config, "reflex_allow_partial")


def ignores_partial(config: pytest.Config) -> bool:
    """Return whether `reflex_allow_partial` is set and does not count, because this is CI."""
    return switch(config, "reflex_allow_partial") and not allows_partial(config)


def in_ci(config: pytest.Config) -> bool:
    """Return whether the variable CI was set when the session started."""
    return config.stash.get(IN_CI, bool(os.environ.get("CI")))


def _ini(config: pytest.Config, key: str) -> Any:
    declared = next(option.ini for option in OPTIONS if option.key == key)
    return config.getini(key) if declared else None


# Sessions that only look: no item runs, so there is nothing to hold against a gate.
_ONLY_LOOKS = ("collectonly", "setuponly", "setupplan", "showfixtures", "show_fixtures_per_test")


_LOOKING = {
    "--co",
    "--collect-only",
    "--collectonly",
    "--setup-only",
    "--setuponly",
    "--setup-plan",
    "--setupplan",
    "--fixtures",
    "--funcargs",
    "--fixtures-per-test",
}


def only_looks(config: pytest.Config) -> bool:
    """Return whether the session only shows something and runs no test.

    In CI only what was typed counts: an option of `addopts` or of PYTEST_ADDOPTS would pass a build
    in which nothing ran.
    """
    looks = any(getattr(config.option, name, False) for name in _ONLY_LOOKS)
    typed = _LOOKING.intersection(map(str, config.invocation_params.args))
    return looks and (bool(typed) or not in_ci(config))
