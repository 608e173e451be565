"""Sixty answers of agents to a question for a plan, and what each is: a plan, or refused, why."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.contracts.steps import ContractError, read_plan
from pytest_reflex.contracts.validate import find_json

STEPS = ("one", "two", "three")
PLAN = json.dumps({"plan": list(STEPS)})
OTHER = json.dumps({"plan": ["x", "y", "z"]})
PRETTY = json.dumps({"plan": list(STEPS)}, indent=2)


def fenced(text: str, info: str = "json", mark: str = "```") -> str:
    return f"{mark}{info}\n{text}\n{mark}"


def plan(*steps: str) -> str:
    return json.dumps({"plan": list(steps)}, ensure_ascii=False)


READ: dict[str, tuple[str, tuple[str, ...]]] = {
    "plain": (PLAN, STEPS),
    "pretty": (PRETTY, STEPS),
    "blanks around": (f"\n\n  {PLAN}\n\n", STEPS),
    "windows line ends": (PRETTY.replace("\n", "\r\n"), STEPS),
    "byte-order mark": (f"\ufeff{PLAN}", STEPS),
    "B065 fence": (fenced(PLAN), STEPS),
    "fence without a word": (fenced(PRETTY, ""), STEPS),
    "fence in capitals": (fenced(PLAN, "JSON"), STEPS),
    "fence of tildes": (fenced(PLAN, "json", "~~~"), STEPS),
    "fence of four": (fenced(PLAN, "json", "````"), STEPS),
    "fence and windows line ends": (fenced(PRETTY).replace("\n", "\r\n"), STEPS),
    "fence after a byte-order mark": ("\ufeff" + fenced(PLAN), STEPS),
    "prose before": (f"Here is the plan:\n\n{PLAN}", STEPS),
    "prose after": (f"{PLAN}\n\nLet me know.", STEPS),
    "prose around": (f"Sure!\n{PRETTY}\nDone.", STEPS),
    "fence in prose": (f"Sure!\n\n{fenced(PLAN)}\n\nDone.", STEPS),
    "braces in strings": (
        plan("if (user) {", "a } b", "{{ x }}"),
        ("if (user) {", "a } b", "{{ x }}"),
    ),
    "B067 brace in a string, in prose": (
        f"Plan: {plan('if (user) {', 'two', 'three')} as asked",
        ("if (user) {", "two", "three"),
    ),
    "quotes in strings": (
        "x " + plan('say "hi" {', "two", "three") + " y",
        ('say "hi" {', "two", "three"),
    ),
    "fence in a string": (
        f"x {plan('use ```json', 'two', 'three')} y",
        ("use ```json", "two", "three"),
    ),
    "fence in a string, fenced": (
        fenced(plan("use\n```json\n{}\n```", "two", "three")),
        ("use\n```json\n{}\n```", "two", "three"),
    ),
    "placeholder in prose": (f"I fill {{name}} in.\n{PLAN}", STEPS),
    "open brace in prose": (f"function f() {{ ...\n{PLAN}", STEPS),
    "close brace in prose": (f"}} and }}\n{PLAN}", STEPS),
    "apostrophes in prose": (f"Here's what I'd do:\n{PLAN}", STEPS),
    "another object before": ('{"note": 1}\n' + PLAN, STEPS),
    "another object after": (PLAN + '\n{"cost": 0.1}', STEPS),
    "a wrong plan before the right one": (f"{plan('only one')} no: {PLAN}", STEPS),
    "more keys": (json.dumps({"plan": list(STEPS), "why": "x"}), STEPS),
    "five steps": (plan(*"abcde"), tuple("abcde")),
    "other writing": (plan("Größe prüfen", "日本語", "🎉"), ("Größe prüfen", "日本語", "🎉")),
    "escapes": ('{"plan": ["\\u00e9", "a\\nb", "\\ud83d\\ude00"]}', ("é", "a\nb", "😀")),
    "line separators in strings": (plan("a\u2028b", "two", "three"), ("a\u2028b", "two", "three")),
    "blanks around steps": (plan(" one ", "two\n", "three"), STEPS),
    "limits as a subject": (
        plan("add a rate limit", "say 429", "retry"),
        ("add a rate limit", "say 429", "retry"),
    ),
}

REFUSED: dict[str, tuple[str, str]] = {
    "nothing": ("", "the answer is empty"),
    "blanks": (" \n\t", "the answer is empty"),
    "mark only": ("\ufeff", "the answer is empty"),
    "prose": ("I would start with the endpoints.", "no JSON object that keeps the contract"),
    "B084 limit": ("You have hit your limit, resets 5pm", "notice about a limit: 'You have hit"),
    "two plans": (f"{PLAN}\nor\n{OTHER}", "holds 2 JSON objects that fit; give exactly one"),
    "the same plan twice": (f"{PLAN}\n{fenced(PLAN)}", "holds 2 JSON objects that fit"),
    "list": (json.dumps(list(STEPS)), "is not of type 'object'"),
    "text": ('"one"', "is not of type 'object'"),
    "null": ("null", "None is not of type 'object'"),
    "other key": (json.dumps({"steps": list(STEPS)}), "'plan' is a required property"),
    "wrapped": (json.dumps({"result": {"plan": list(STEPS)}}), "'plan' is a required property"),
    "two steps": (plan("a", "b"), "/plan: has 2 items, at least 3 are needed"),
    "six steps": (plan(*"abcdef"), "/plan: has 6 items, at most 5 are needed"),
    "empty step": (plan("a", " ", "c"), "/plan/1: is empty"),
    "B064 number as a step": (
        '{"plan": ["a", 1, true]}',
        "/plan/1: 1 is not of type 'string'; /plan/2: True",
    ),
    "B064 plan that is a flag": ('{"plan": true}', "/plan: True is not of type 'array'"),
    "single quotes": ("{'plan': ['a', 'b', 'c']}", "the braces at line 1 hold no JSON"),
    "trailing comma": ('{"plan": ["a", "b", "c",]}', "the braces at line 1 hold no JSON"),
    "remarks": ('{"plan": ["a", "b", "c"] // done\n}', "the braces at line 1 hold no JSON"),
    "cut off": ('{"plan": ["a", "b", "c"', "no JSON object that keeps the contract"),
    "key twice": ('{"plan": ["a"], "plan": ["a", "b", "c"]}', "the key 'plan' is there twice"),
    "not a number": ('{"plan": ["a", "b", "c"], "n": NaN}', "NaN is not a JSON number"),
    "without a bound": (
        'x {"plan": ["a", "b", "c"], "n": -Infinity}',
        "-Infinity is not a JSON number",
    ),
    "deep": ("[" * 100_000, "no JSON object|nested too deep"),
    "deep objects": ('{"a":' * 100_000, "nested too deep"),
    "many braces": ("{" * 100_000, "too many braces that open nothing"),
    "plan inside broken braces": (f'{{"a": 1, {PLAN} }}', "the braces at line 1 hold no JSON"),
    "two fences": (f"{fenced(PLAN)}\n{fenced(OTHER)}", "holds 2 JSON objects that fit"),
    "fence that never closes, cut off": ('```json\n{"plan": ["a",', "no JSON object that keeps"),
    "half a character": ('{"plan": ["\\ud83d", "b", "c"]}', "half of a surrogate pair"),
    "yaml": ("plan:\n  - a\n  - b\n  - c\n", "no JSON object that keeps the contract"),
    "too long": (" " * 10_000_001, "the answer is too long: 10,000,001 characters"),
}


@pytest.mark.parametrize(("answer", "steps"), READ.values(), ids=READ.keys())
def test_plan_is_read(answer: str, steps: tuple[str, ...]) -> None:
    assert read_plan(answer) == steps


@pytest.mark.long
@pytest.mark.parametrize(("answer", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_answer_is_refused_with_the_reason(answer: str, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        read_plan(answer)


@pytest.mark.long
@settings(deadline=None)
@given(
    st.text(st.characters(exclude_characters='{}"')),
    st.lists(st.text(min_size=1).filter(str.strip), min_size=3, max_size=5),
    st.text(st.characters(exclude_characters='{}"')),
    st.sampled_from([None, 2]),
)
def test_plan_is_found_in_any_prose_without_braces(
    before: str, steps: list[str], after: str, indent: int | None
) -> None:
    text = before + json.dumps({"plan": steps}, indent=indent) + after
    assert read_plan(text) == tuple(step.strip() for step in steps)


def test_the_table_is_long_enough() -> None:
    assert len(READ) + len(REFUSED) >= 60


@pytest.mark.parametrize("text", ["[{}]", "```\n[{}]\n```", '{{"n": {}}}', 'So: {{"n": -{}}} .'])
def test_a_number_that_is_too_long_is_told_in_words(text: str) -> None:
    with pytest.raises(ContractError) as caught:
        find_json(text.format("7" * 5_000), lambda value: [])
    assert "digits, 1,000 at most" in str(caught.value)
    assert "sys." not in str(caught.value)
