"""The fixed words of the prompts: the preamble of seed 001, and what each step has to answer.

A text is the form of the answer, which always stands, and behind `BREAK` how to come to it: that
part a person may replace. Words in double angle brackets are filled in by `filled`.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_reflex.model.enums import Step

BREAK = "\n--\n"

PREAMBLE = """\
You are executing phase {PHASE} for run {run_id}, iteration {iteration}, phase level {phase}.
Return only the required output format.
Do not add explanations or commentary outside the specified format."""

_LOOP = """\
A loop improves one text, the artifact, until a program finds that it keeps all rules. You do one
step of it, and know nothing but what stands here."""

_PROJECT = """\
A loop improves files of a project until its tests pass and its rules are kept. You do one step of
it, and know nothing but what stands here."""

_ONLY_TEXT = """\
Answer in text: write no files and run no commands. Nothing but your answer is used."""

_STEPS: Mapping[Step, str] = {
    Step.PLAN: "Your step: plan what has to be written or changed next, so that the rules pass.",
    Step.PRODUCE: "Your step: write the artifact, as the plan below says.",
    Step.PREPARE: (
        "Your step: turn each rule below into checks by which a program sees, in the artifact, "
        "whether\nthe rule is kept."
    ),
    Step.CRITIQUE: "Your step: say for the rules that did not pass what exactly has to be changed.",
    Step.REFINE: "Your step: carry out the fix instructions below, and change nothing else.",
}

_PLAN = """\
## Required output

One JSON object:

{ "plan": ["step 1", "step 2", "step 3"] }

- 3 to 5 steps, each a string that says what to do.
--
- Each step is for one active rule, or for a group of them, and names it by its id.
- What does not pass comes first; what passes stays as it is.
- Where an artifact is shown: plan nothing that it has already.
- No change of architecture that no rule asks for, and no step that serves no active rule."""

_PRODUCE = """\
## Required output

The content of the artifact and nothing else: it is stored as it comes.

- Give the whole artifact, not a part or a difference.
- No remarks about it, and no fence around it.
--
- Carry out the plan above, and only that.
- Where a previous artifact or a draft is shown: what the plan does not concern stays as it is, to
  the letter. Where it has already what a step of the plan asks for, do not add it a second time."""

_PREPARE = """\
## Required output

One JSON object, with one or more checks for each rule above:

{ "checks": [ { "rule_id": "<<rule>>", "type": "content",
                "search": "<a Python regular expression>",
                "expected": "<what it looks for, in words>" } ] }

- Every check names its rule by `rule_id`: <<rules>>. Leave no rule out.
- `search` is looked for in the whole artifact; `^` and `$` match at every line. Optional:
  `literal` (true: take `search` as plain text), `negate` (true: it must not be found), `min_count`,
  `max_count`, `ignore_case`, `section` (only below that Markdown heading), `block` (only in fenced
  blocks of that language).
<<commands>>
--
- Work from the rules and the task. The artifact may be rewritten before the checks are run.
- A check fails where its rule is broken: one that every text passes is worth nothing.
- Checks are quick and always give the same result."""

COMMANDS = """\
- A command from the list above: { "rule_id": "...", "command": "NAME", "args": { ... } }, with
  exactly its args. Other commands are not run unless the user allowed them."""
NO_COMMANDS = (
    "- Give checks of type content only: commands are not run unless the user allowed them."
)

_CRITIQUE = """\
## Required output

One JSON object:

{ "issues": [ { "rule_id": "<<rule>>", "problem": "<what is wrong>",
                "fix_instruction": "<what to change, exactly where, and how>",
                "expected_effect": "Rule <<rule>> passes" } ] }

- At most 5 issues, each for exactly one rule of the evaluation above: severity fail first, then
  warn, heavier rules first.
--
- A fix instruction is so specific that somebody who sees only it and the artifact can carry it out.
- Do not rewrite the artifact here."""

_REFINE = """\
## Required output

The whole improved artifact and nothing else: it replaces the old one as it comes.

- No remarks about it, and no fence around it.
--
- Carry out the fix instructions above, and only those.
- Everything they do not concern stays as it is, to the letter, and what passes goes on passing."""

_FILES = """\
## Required output

Change the files themselves, in the working directory; or, where you cannot write files, answer with
one JSON object that gives the whole new text of each file you change, and nothing else:

{ "files": [ { "path": "<<path>>", "text": "<the whole new text>" } ] }

- Only the files named above may be changed. The tests, the rules and every configuration are
  protected: a change of theirs ends the run.
--
- Carry out the fix instructions above; what they do not concern stays as it is.
- Make the tests pass by making the files right, not by recognising the tests."""

_OUTPUT: Mapping[Step, str] = {
    Step.PLAN: _PLAN,
    Step.PRODUCE: _PRODUCE,
    Step.PREPARE: _PREPARE,
    Step.CRITIQUE: _CRITIQUE,
    Step.REFINE: _REFINE,
}


def introduction(step: Step, *, of_files: bool) -> str:
    """Return what a step is about; `of_files` where the artifact is the files of a project."""
    edits = of_files and step is Step.REFINE
    lines = [_PROJECT if of_files else _LOOP, _STEPS[step], *([] if edits else [_ONLY_TEXT])]
    return "\n".join(lines)


def output_instructions(step: Step, *, of_files: bool, own: str, places: Mapping[str, str]) -> str:
    """Return what has to be answered; `own` takes the place of how to come to the answer.

    `places` are the ids and paths of this run that stand in the examples.
    """
    text = _FILES if of_files and step is Step.REFINE else _OUTPUT[step]
    for name, word in places.items():
        text = text.replace(f"<<{name}>>", word)
    form, _, conduct = text.partition(BREAK)
    return f"{form}\n\n## Instructions\n\n{own.strip()}" if own.strip() else f"{form}\n{conduct}"
