"""A prompt says what the iteration is, then what it has to know, then the four phases in order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.iterate.decide import parse_promise
from pytest_reflex.drivers.iterate.model import Fragment, Phase
from pytest_reflex.drivers.iterate.prompt import compose, from_context, from_flag, text_of
from pytest_reflex.errors import UsageError
from tests.drivers.iterate.desk import procedure, write

HEADINGS = ["## OBSERVE", "## ORIENT", "## DECIDE", "## ACT"]


def test_a_prompt_has_the_parts_of_the_seed_in_its_order() -> None:
    text = compose(procedure(), number=2, total=3)
    assert text.startswith("# OODA Loop Iteration\n\nProcedure: mine\nIteration: 2 of 3\n\n")
    assert text.endswith(
        "## OBSERVE\n\nlook\n\n## ORIENT\n\nthink\n\n## DECIDE\n\nchoose\n\n## ACT\n\ndo\n"
    )


def test_without_a_limit_the_number_stands_alone() -> None:
    assert "\nIteration: 7, without a limit\n" in compose(procedure(), number=7, total=0)


def test_contexts_stand_before_the_phases() -> None:
    contexts = [Fragment(content="first"), Fragment(content="second")]
    text = compose(procedure(), number=1, total=1, contexts=contexts)
    assert "\n\n## CONTEXT\n\nfirst\n\nsecond\n\n## OBSERVE\n" in text


def test_without_contexts_there_is_no_such_section() -> None:
    assert "CONTEXT" not in compose(procedure(), number=1, total=1)


def test_a_phase_can_be_replaced_for_a_run() -> None:
    instead = {Phase.ACT: [Fragment(content="rest")]}
    text = compose(procedure(), number=1, total=1, replaced=instead)
    assert text.endswith("## DECIDE\n\nchoose\n\n## ACT\n\nrest\n")


def test_each_round_has_what_is_in_the_files_by_then(tmp_path: Path) -> None:
    path = write(tmp_path, "one", "act.md")
    made = procedure(act=(Fragment(path=str(path)),))
    assert "## ACT\n\none\n" in compose(made, number=1, total=2)
    path.write_text("two")
    assert "## ACT\n\ntwo\n" in compose(made, number=2, total=2)


@pytest.mark.parametrize("word", ["SUCCESS", "FAILURE"])
def test_b070_a_tool_that_repeats_its_prompt_gives_no_signal(word: str) -> None:
    made = procedure(act=(Fragment(content=f"At the end say\n<promise>{word}</promise>\n\n"),))
    text = compose(made, number=1, total=1)
    assert f"\n<promise>{word}</promise>\n" in text
    assert parse_promise(text) is None


FRAGMENT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40
).filter(lambda text: bool(text.strip()))
HARD = st.sampled_from(["{name}", "%s {0} $HOME \\1 {{x}}", "## ACT", "<promise>SUCCESS</promise>"])


@pytest.mark.long
@settings(deadline=None, max_examples=80)
@given(st.fixed_dictionaries({p: st.lists(FRAGMENT | HARD, min_size=1, max_size=3) for p in Phase}))
def test_each_fragment_stands_there_once_in_order_and_untouched(
    texts: dict[Phase, list[str]],
) -> None:
    marked = {
        phase: [f"<{phase}:{number}>{text}<end>" for number, text in enumerate(several)]
        for phase, several in texts.items()
    }
    made = procedure(**{p: tuple(Fragment(content=t) for t in ts) for p, ts in marked.items()})
    prompt = compose(made, number=1, total=1)
    expected = [part for phase in Phase for part in (f"## {phase.value.upper()}", *marked[phase])]
    assert prompt.endswith("\n\n" + "\n\n".join(expected) + "\n")
    assert all(prompt.count(text) == 1 for several in marked.values() for text in several)


@settings(deadline=None, max_examples=80)
@given(value=st.text(st.characters(exclude_categories=["Cs"]), max_size=20), rest=FRAGMENT)
def test_what_is_put_in_is_not_looked_at_again(value: str, rest: str) -> None:
    around = rest.replace("{", "(")
    fragment = Fragment(content=f"{around}{{name}}{around}", parameters={"name": value})
    assert text_of(fragment) == f"{around}{value}{around}"


def test_without_parameters_braces_are_text() -> None:
    text = 'a {name}, {"json": 1}, {}, {{x}}'
    assert text_of(Fragment(content=text)) == text


def test_beside_parameters_other_braces_are_text() -> None:
    fragment = Fragment(content='{"json": {name}} {} { name }', parameters={"name": "1"})
    assert text_of(fragment) == '{"json": 1} {} { name }'


def test_a_place_without_a_parameter_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, "one\ntwo {nmae}\n", "act.md")
    fragment = Fragment(path=str(path), parameters={"name": "x"})
    said = f"{path}:2:5: the prompt has no parameter for {{nmae}} (given: name; "
    with pytest.raises(UsageError, match=re.escape(said)):
        text_of(fragment, "the prompt")


def test_a_parameter_without_a_place_is_named() -> None:
    fragment = Fragment(content="text", parameters={"name": "x"}, origin="conf.toml:3:7")
    said = "conf.toml:3:7: the prompt does not use the parameter 'name' (its text has no {name})"
    with pytest.raises(UsageError, match=re.escape(said)):
        text_of(fragment, "the prompt")


def test_a_byte_order_mark_and_line_ends_of_another_system_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "act.md"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert text_of(Fragment(path=str(path))) == "one\ntwo\n"


UNUSABLE = {
    "is not there": None,
    "is not UTF-8: byte 0xff": b"a\xff",
    "holds no text": b" \n",
    "is longer than 1,000,000 bytes": b"a" * 1_000_001,
}


@pytest.mark.parametrize(("fault", "data"), UNUSABLE.items(), ids=UNUSABLE.keys())
def test_a_file_that_cannot_be_used_is_named_with_who_named_it(
    tmp_path: Path, fault: str, data: bytes | None
) -> None:
    path = tmp_path / "act.md"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(UsageError) as caught:
        text_of(Fragment(path=str(path), origin="conf.toml:1:1"), "the prompt")
    assert str(caught.value) == f"{path}: the prompt, named in conf.toml:1:1, {fault}"


def test_a_folder_is_no_fragment(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a regular file"):
        text_of(Fragment(path=str(tmp_path)))


def test_a_context_is_a_file_where_there_is_one(tmp_path: Path) -> None:
    write(tmp_path, "from the file", "notes.md")
    assert text_of(from_context("notes.md", tmp_path)) == "from the file"


@pytest.mark.parametrize("value", ["Mind the gap.", "hurry", "see a/b and c.md", "x " * 5_000])
def test_any_other_context_is_text(tmp_path: Path, value: str) -> None:
    assert text_of(from_context(value, tmp_path)) == value


REFUSED = {
    "notes.md": "--context notes.md: there is no such file",
    "docs/notes": "--context docs/notes: there is no such file",
    "folder": "--context folder: that is a folder (name a file in it)",
    " ": "--context is empty (give it a text or the name of a file)",
}


@pytest.mark.parametrize(("value", "expected"), REFUSED.items(), ids=repr)
def test_a_context_that_is_a_mistake_is_refused(tmp_path: Path, value: str, expected: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=re.escape(expected)):
        from_context(value, tmp_path)


def test_a_file_on_the_command_line_is_looked_at_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"act.md: the value of --act is not there"):
        from_flag("act.md", tmp_path, "--act")
