"""Options of limits and agents mean the same, in the same words, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from pytest_reflex.cli.groups import VERBS, LazyGroup
from pytest_reflex.session.options import OPTIONS

DRIVING = ("loop new", "loop resume", "loop extend", "iterate run", "iterate resume")
PLUGIN = {option.flag.replace("--reflex-", "--"): option.help for option in OPTIONS}


def option(verb: str, flag: str) -> click.Option | None:
    """Return an option of a verb."""
    command: click.Command = LazyGroup(VERBS)
    context = click.Context(command)
    for word in verb.split():
        assert isinstance(command, click.Group)
        found = command.get_command(context, word)
        assert found is not None
        command = found
    named = (one for one in command.params if isinstance(one, click.Option) and flag in one.opts)
    return next(named, None)


def texts(flag: str) -> Iterator[tuple[str, str]]:
    """Yield the help of a flag in each verb that drives, without what only that verb adds."""
    for verb in DRIVING:
        if (found := option(verb, flag)) is not None:
            yield verb, str(found.help).partition(";")[0].partition(" (")[0].rstrip(".")


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


@pytest.mark.parametrize(
    ("flag", "verbs"),
    [
        ("--max-iterations", ["loop new", "loop extend", "iterate run", "iterate resume"]),
        ("--budget", ["loop new", "loop extend", "iterate run", "iterate resume"]),
        ("--judge", list(DRIVING)),
        ("--agent", list(DRIVING)),
        ("--dry-run", ["loop new", "loop resume", "iterate run", "iterate resume"]),
    ],
)
def test_an_option_stands_in_each_verb_that_drives(flag: str, verbs: list[str]) -> None:
    assert [verb for verb, _ in texts(flag)] == verbs


@pytest.mark.parametrize("flag", ["--budget", "--judge"])
def test_an_option_has_one_help_in_all_verbs_and_in_pytest(flag: str) -> None:
    (text,) = {text for _, text in texts(flag)}
    assert _begun(PLUGIN[flag]).startswith(text)


@pytest.mark.parametrize("verb", ["loop new", "loop extend", "iterate run"])
def test_the_limit_of_iterations_begins_with_the_same_words(verb: str) -> None:
    found = option(verb, "--max-iterations")
    assert found is not None
    assert str(found.help).startswith("Iterations at most")
    assert "-n" in found.opts
    assert PLUGIN["--max-iterations"].startswith("iterations at most")


@pytest.mark.parametrize("verb", ["loop extend", "iterate resume"])
def test_verbs_that_go_on_say_how_to_add_to_a_budget(verb: str) -> None:
    found = option(verb, "--budget")
    assert found is not None
    assert str(found.help).endswith("; +N adds to a limit.")


def test_the_agent_of_a_loop_and_of_pytest_is_told_in_the_same_words() -> None:
    found = option("loop new", "--agent")
    assert found is not None
    assert _begun(PLUGIN["--agent"]) + "." == found.help
