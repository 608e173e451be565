"""Options come from a flag, the environment, the workspace or the default, in this order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_reflex.errors import UsageError
from pytest_reflex.settings import (
    SETTINGS,
    Origin,
    Tier,
    budget_changes,
    from_text,
    global_path,
    load,
    positive,
    whole,
)
from pytest_reflex.settings.resolve import GIVEN

KEY = "loop.max_iterations"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for setting in SETTINGS:
        monkeypatch.delenv(setting.variable, raising=False)
    return tmp_path


def write(project: Path, text: str, name: str = "pytest-reflex.toml") -> Path:
    path = project / name
    path.write_text(text, encoding="utf-8")
    return path


def test_without_anything_defaults_hold(project: Path) -> None:
    settings = load(project)
    assert (settings[KEY], str(settings.origins[KEY]), settings["agent"]) == (
        4,
        "default",
        "offline",
    )


def test_the_workspace_file_is_read(project: Path) -> None:
    path = write(project, "[loop]\nmax_iterations = 7\n")
    settings = load(project)
    assert (settings[KEY], str(settings.origins[KEY])) == (7, str(path))


def test_pyproject_has_the_same_keys_in_its_table(project: Path) -> None:
    write(project, "[tool.pytest-reflex.loop]\nmax_iterations = 7\n", "pyproject.toml")
    assert load(project)[KEY] == 7


def test_a_pyproject_without_the_table_says_nothing(project: Path) -> None:
    write(project, "[tool.other]\nx = 1\n", "pyproject.toml")
    assert load(project).file is None


def test_the_environment_wins_over_the_workspace(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "[loop]\nmax_iterations = 7\n")
    monkeypatch.setenv("PYTEST_REFLEX_LOOP_MAX_ITERATIONS", "8")
    settings = load(project)
    assert (settings[KEY], str(settings.origins[KEY])) == (8, "environment")


def test_a_flag_wins_over_all(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_REFLEX_LOOP_MAX_ITERATIONS", "8")
    assert load(project, {KEY: "9", "agent": None})[KEY] == 9


def test_what_children_are_given_is_never_read(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_REFLEX_ARTIFACT", "x")
    monkeypatch.setenv("PYTEST_REFLEX_RUN_DIR", "y")
    assert {str(origin) for origin in load(project).origins.values()} == {"default"}


VARIABLES = {
    "a typo": (
        "PYTEST_REFLEX_ITERATE_MAX_ITERATION",
        "MAX_ITERATION is ignored (did you mean PYTEST_REFLEX_ITERATE_MAX_ITERATIONS?)",
    ),
    "a table": (
        "PYTEST_REFLEX_ITERATE_GATES",
        "a table cannot be given by a variable (write iterate.gates in pytest-reflex.toml)",
    ),
    "nothing near": (
        "PYTEST_REFLEX_QQ",
        "unknown variable PYTEST_REFLEX_QQ is ignored (`pytest-reflex config` lists the settings)",
    ),
}


@pytest.mark.parametrize(("name", "expected"), VARIABLES.values(), ids=VARIABLES.keys())
def test_a_variable_that_nobody_reads_is_a_warning(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: str
) -> None:
    monkeypatch.setenv(name, "1")
    (problem,) = load(project).unknown
    assert expected in str(problem)


@pytest.mark.parametrize("name", [*GIVEN, "PYTEST_REFLEX_VAR_WORDS"])
def test_a_variable_that_children_are_given_is_no_typo(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "1")
    assert load(project).unknown == ()


def test_every_variable_in_the_code_is_given_or_a_setting() -> None:
    code = Path(load.__code__.co_filename).parents[1]
    found = {
        name
        for path in code.rglob("*.py")
        for name in re.findall(r"(?<!_)PYTEST_REFLEX_[A-Z_]+", path.read_text("utf-8"))
    }
    assert found - {"PYTEST_REFLEX_"} <= {*GIVEN, *(one.variable for one in SETTINGS)}


def test_a_table_in_pyproject_beside_our_own_file_is_told(project: Path) -> None:
    shared = write(project, "[tool.pytest-reflex.iterate.gates.a]\ncommand = 'x'", "pyproject.toml")
    write(project, 'agent = "x"\n')
    (problem,) = load(project).unknown
    assert str(problem).startswith(f"{shared}: the table tool.pytest-reflex is not read: ")


@pytest.mark.parametrize("text", ["[tool.other]\n", "tool = 5\n", "[broken"])
def test_a_pyproject_without_settings_beside_our_own_file_is_nothing(
    project: Path, text: str
) -> None:
    write(project, text, "pyproject.toml")
    write(project, 'agent = "x"\n')
    assert load(project).unknown == ()


BAD = {
    "zero iterations": ("[loop]\nmax_iterations = 0", "whole number >= 1"),
    "a bool is not a number": ("[loop]\nmax_iterations = true", "whole number >= 1"),
    "b064 a number in quotes": (
        '[loop]\nmax_iterations = "08"',
        "loop.max_iterations = '08': expected a whole number >= 1, without quotes",
    ),
    "b064 a truth in quotes": (
        '[iterate]\nstop_unchanged = "yes"',
        "iterate.stop_unchanged = 'yes': expected true or false, without quotes",
    ),
    "an unknown choice": ('[loop]\nproduce = "never"', '"always" or "first"'),
    "a budget of an unknown kind": ("[loop]\nbudget = {euros = 5}", "'euros'"),
    "a negative budget": ("[loop]\nbudget = {usd = -1}", "positive number for 'usd'"),
    "an infinite budget": ("[loop]\nbudget = {usd = inf}", "positive number for 'usd'"),
    "an agent for no step": ('[loop]\nagents = {think = "x"}', "'think'"),
    "an empty agent": ('agent = ""', "non-empty string"),
    "plugins that are not a list": ("plugins = 3", "list of names"),
    "an agent that is not a table": ('[agents]\nwriter = "x"', "expected a table for 'writer'"),
    "a long text": ('agents = "' + "x" * 200 + '"', ":1:10: agents = '" + "x" * 79 + "...: expe"),
    "a key in quotes that looks like ours": (
        '"loop.root" = "x"\nloop = 5',
        "pytest-reflex.toml:2:8: loop = 5",
    ),
    "a nul in a path": ('[loop]\nroot = "a\\u0000"', "non-empty string"),
    "a loop that is none": ("loop = 5", "pytest-reflex.toml:1:8: loop = 5: expected a table"),
    "a goal that is not a table": ("goal = 5", "goal = 5: expected a table (as in [goal])"),
    "broken TOML": ("[loop", "pytest-reflex.toml"),
    "TOML nested too deep": ("a = " + "[" * 100_000, "pytest-reflex.toml"),
}


@pytest.mark.parametrize(("text", "expected"), BAD.values(), ids=BAD.keys())
def test_a_wrong_value_names_file_and_remedy(project: Path, text: str, expected: str) -> None:
    write(project, text)
    with pytest.raises(UsageError) as caught:
        load(project)
    assert expected in str(caught.value)
    assert "pytest-reflex.toml" in str(caught.value)


UNKNOWN = {
    "the nearest key of the table": (
        "[loop]\nmax_iteration = 1",
        "unknown key 'loop.max_iteration' is ignored (did you mean loop.max_iterations?)",
    ),
    "a key that belongs in a table": (
        'tempalte = "base"',
        "unknown key 'tempalte' is ignored (did you mean loop.template?)",
    ),
    "a driver's table": ("[iterat]\n", "'iterat' is ignored (did you mean iterate?)"),
    "nothing near": (
        "[goal]\nqqqqqqq = 1\n",
        "unknown key 'goal.qqqqqqq' is ignored (",
    ),
    "a field of a procedure": (
        "[iterate.procedures.build]\nmax_iteration = 9",
        "'iterate.procedures.build.max_iteration' is ignored (did you mean max_iterations?)",
    ),
    "a field of a gate": (
        '[iterate.gates.tests]\ncomand = "x"',
        "'iterate.gates.tests.comand' is ignored (did you mean command?)",
    ),
}


@pytest.mark.parametrize(("text", "expected"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_an_unknown_key_is_a_warning_with_the_nearest(
    project: Path, text: str, expected: str
) -> None:
    path = write(project, text)
    settings = load(project)
    (problem,) = settings.unknown
    assert expected in str(problem)
    assert re.match(rf"{re.escape(str(path))}:\d+:\d+: ", str(problem))
    assert {origin.tier for origin in settings.origins.values()} <= {Tier.DEFAULT, Tier.WORKSPACE}


@pytest.mark.parametrize("value", ["5", "[1]", '"x"'])
def test_a_pyproject_table_that_is_none_is_named(project: Path, value: str) -> None:
    write(project, f"[tool]\npytest-reflex = {value}\n", "pyproject.toml")
    with pytest.raises(
        UsageError, match=r"pyproject.toml:2:17: tool.pytest-reflex: expected a table"
    ):
        load(project)


def test_a_wrong_variable_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_REFLEX_LOOP_PRODUCE", "sometimes")
    with pytest.raises(UsageError, match="PYTEST_REFLEX_LOOP_PRODUCE = 'sometimes'"):
        load(project)


NUMBERS = {"08": 8, "010": 10, " 3 ": 3, "4": 4}


@pytest.mark.parametrize("text", NUMBERS)
def test_b075_a_cap_is_read_as_decimal(text: str) -> None:
    assert from_text(positive, text) == NUMBERS[text]


@pytest.mark.parametrize("text", ["0x5", "1e3", "-1", "3.0", "٣", "", "0"])
def test_b075_an_unreadable_cap_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="whole number"):
        from_text(positive, text)


def test_zero_is_a_whole_number() -> None:
    assert from_text(whole, "0") == 0


@pytest.fixture
def personal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a person's own configuration lies in."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    folder = global_path().parent
    folder.mkdir(parents=True)
    return folder


def test_a_persons_own_file_counts_behind_the_workspace(project: Path, personal: Path) -> None:
    own = write(personal, 'agent = "mine"\n[loop]\nmax_iterations = 9\n')
    write(project, "[loop]\nmax_iterations = 7\n")
    settings = load(project)
    assert (settings[KEY], settings["agent"]) == (7, "mine")
    assert settings.origins["agent"] == Origin(Tier.GLOBAL, own)
    assert settings.origins[KEY].tier is Tier.WORKSPACE


def test_a_wrong_value_in_a_persons_own_file_names_it(project: Path, personal: Path) -> None:
    own = write(personal, "[loop]\nmax_iterations = 0\n")
    with pytest.raises(
        UsageError, match=re.escape(f"{own}:2:18: loop.max_iterations = 0: expected")
    ):
        load(project)


def test_tables_are_joined_and_each_key_knows_its_tier(project: Path, personal: Path) -> None:
    write(personal, "[loop]\nbudget = {usd = 5, calls = 50}\n")
    write(project, "[loop]\nbudget = {calls = 20}\n")
    settings = load(project, {"loop.budget": {"tokens": 9}})
    assert settings["loop.budget"] == {"usd": 5, "calls": 20, "tokens": 9}
    tiers = {key: settings.origins[f"loop.budget.{key}"].tier for key in settings["loop.budget"]}
    assert tiers == {"usd": Tier.GLOBAL, "calls": Tier.WORKSPACE, "tokens": Tier.FLAG}


def test_a_table_of_an_agent_adds_to_a_persons_own(project: Path, personal: Path) -> None:
    write(personal, '[agents.claude]\nmodel = "opus"\ntimeout = 5\n')
    write(project, "[agents.claude]\ntimeout = 900\n")
    settings = load(project)
    assert settings["agents"]["claude"] == {"model": "opus", "timeout": 900}
    assert settings.origins["agents.claude.model"].tier is Tier.GLOBAL
    assert settings.origins["agents.claude.timeout"].tier is Tier.WORKSPACE


def test_an_agent_with_a_command_of_its_own_is_another_one(project: Path, personal: Path) -> None:
    write(personal, '[agents.writer]\npreset = "claude"\nmodel = "opus"\n')
    write(project, '[agents.writer]\ncommand = ["mine"]\n')
    settings = load(project)
    assert settings["agents"]["writer"] == {"command": ["mine"]}
    assert "agents.writer.model" not in settings.origins


def test_a_folder_that_cannot_be_looked_into_has_no_file(
    as_user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (as_user / "closed").mkdir(mode=0)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(as_user / "closed"))
    assert load(as_user)[KEY] == 4


CHANGES: dict[str, tuple[list[str], dict[str, float], dict[str, float]]] = {
    "one is set": (["usd=5"], {}, {"usd": 5}),
    "one is added to": (["calls=+10"], {"calls": 5, "usd": 1}, {"calls": 15}),
    "leading zeros are decimal": (["seconds=010"], {}, {"seconds": 10}),
}


@pytest.mark.parametrize(("pairs", "now", "expected"), CHANGES.values(), ids=CHANGES.keys())
def test_budget_of_the_command_line(
    pairs: list[str], now: dict[str, float], expected: dict[str, float]
) -> None:
    assert budget_changes(pairs, now) == expected


def test_a_budget_that_is_given_twice_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--budget usd=6: usd is given twice"):
        budget_changes(["usd=5", "calls=3", "usd=6"])


WRONG = {
    "euros=5": "--budget euros=5: no such key",
    "usd": "--budget usd: expected a positive number",
    "usd=": "--budget usd=: expected",
    "usd=0": "--budget usd=0: expected",
    "usd=-1": "--budget usd=-1: expected",
    "usd=nan": "--budget usd=nan: expected",
    "calls=1e3": "--budget calls=1e3: expected a positive number in plain decimals (for example ",
    "calls=0x5": "--budget calls=0x5: expected",
    "calls=٣": "--budget calls=٣: expected",
    "calls=+5": "--budget calls=+5: there is no limit to add to (give one: calls=5)",
}


@pytest.mark.parametrize(("pair", "message"), WRONG.items(), ids=WRONG.keys())
def test_b075_an_unreadable_budget_is_an_error(pair: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        budget_changes([pair])
