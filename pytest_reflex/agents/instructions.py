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
A loop improves one text, the artifact, until it passes all its rules, which a program checks. You
do one step of the loop. This prompt is all that you get from the other steps."""

_PROJECT = """\
A loop improves files of a project until its tests and its rules pass. You do one step of the loop.
This prompt is all that you get from the other steps."""

_ONLY_TEXT = """\
Answer in text: write no files and run no commands. Only your answer is used."""

_STEPS: Mapping[Step, str] = {
    Step.PLAN: "Your step: plan what to write or change next so that the rules pass.",
    Step.PRODUCE: "Your step: write the artifact, following the plan below.",
    Step.PREPARE: (
        "Your step: turn each rule below into checks with which a program can tell whether the "
        "artifact\nmeets the rule."
    ),
    Step.CRITIQUE: "Your step: for the rules that did not pass, say exactly what to change.",
    Step.REFINE: "Your step: carry out the fix instructions below and change nothing else.",
}

_PLAN = """\
## Required output

One JSON object:

{ "plan": ["step 1", "step 2", "step 3"] }

- 3 to 5 steps, each a string that says what to do.
--
- Each step serves one active rule, or a group of them, and names the rule ids.
- Start with the rules that do not pass; leave what passes as it is.
- If an artifact is shown, plan only what it does not have yet.
- Plan no change of architecture that no rule asks for, and no step that serves no active rule."""

_PRODUCE = """\
## Required output

The content of the artifact and nothing else: it is stored exactly as you write it.

- Give the whole artifact, not a part or a diff.
- Add no comments about it, and no code fence around it.
--
- Carry out the plan above, and only that.
- If a previous artifact or a draft is shown, keep everything that the plan does not mention exactly
  as it is. If it already has what a step of the plan asks for, do not add it again."""

_PREPARE = """\
## Required output

One JSON object, with one or more checks for each rule above:

{ "checks": [ { "rule_id": "<<rule>>", "type": "content",
                "search": "<a Python regular expression>",
                "expected": "<what it looks for, in words>" } ] }

- Every check names its rule by `rule_id`: <<rules>>. Leave no rule out.
- `search` is searched for in the whole artifact; `^` and `$` match at every line. Optional:
  `literal` (true: take `search` as plain text), `negate` (true: it must not be found), `min_count`,
  `max_count`, `ignore_case`, `section` (only below that Markdown heading), `block` (only in fenced
  blocks of that language).
<<commands>>
--
- Base the checks on the rules and the task. The artifact may be rewritten before the checks run.
- A check must fail where its rule is not met: a check that every text passes is useless.
- Checks must be quick and always give the same result."""

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

- At most 5 issues, each for exactly one rule of the evaluation above. Order them: severity fail
  before warn, then by weight, the highest first.
--
- Make each fix instruction so specific that somebody who sees only it and the artifact can carry it
  out.
- Do not rewrite the artifact here."""

_REFINE = """\
## Required output

The whole improved artifact and nothing else: it replaces the old one exactly as you write it.

- Add no comments about it, and no code fence around it.
--
- Carry out the fix instructions above, and only those.
- Keep everything else exactly as it is. Rules that pass now must still pass."""

_FILES = """\
## Required output

Change the files themselves, in the working directory. If you cannot write files, answer with one
JSON object that gives the whole new text of each file that you change, and nothing else:

{ "files": [ { "path": "<<path>>", "text": "<the whole new text>" } ] }

- Change only the files named above. The tests, the rules and all configuration files are protected:
  a change to them ends the run.
--
- Carry out the fix instructions above; keep everything else as it is.
- Make the tests pass by correcting the files, not by detecting the tests."""

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
