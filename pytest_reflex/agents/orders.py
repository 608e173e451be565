"""The fixed words of the prompts: the preamble of seed 001, and what each step has to answer.

A text is the form of the answer, which always stands, and behind `BREAK` how to come to it: that
part a person may replace.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_reflex.model.words import Step

BREAK = "\n--\n"

PREAMBLE = """\
You are executing phase {PHASE} for run {run_id}, iteration {iteration}, phase level {phase}.
Return only the required output format.
Do not add explanations or commentary outside the specified format."""

_PLAN = """\
## Required output

One JSON object:

{ "plan": ["step 1", "step 2", "step 3"] }

- 3 to 5 steps, each a non-empty string.
--
- Each step is for one active rule, or for a group of them, and names it.
- What failed in the last evaluation comes first.
- No change of architecture that no rule asks for, and no step that serves no active rule."""

_PRODUCE = """\
## Required output

The content of the artifact and nothing else: it is stored as it comes.

- Give the whole artifact, not a part or a difference.
- No remarks about it, and no fence around it.
--
- Carry out the plan above, and only that.
- Where there is a previous artifact or a draft, what the plan does not concern stays as it is."""

_PREPARE = """\
## Required output

One JSON object:

{ "checks": [ { "rule_id": "a.correctness.endpoints", "type": "content",
                "search": "GET /courses/\\\\{id\\\\}/chapters",
                "expected": "the endpoint is there" } ] }

- One or more concrete checks for each rule above; every check names its rule by `rule_id`.
- `content`: `search` is a Python regular expression, line by line, over the artifact. Optional:
  `literal` (take `search` as plain text), `negate` (must not be found), `min_count`, `max_count`,
  `ignore_case`, `section` (only below that Markdown heading), `block` (only in fenced blocks of
  that language), `expected` (what it looks for, in words).
- A command from the list above: { "rule_id": "...", "command": "NAME", "args": { ... } }, with
  exactly its args. Other commands are not run unless the user allowed them.
--
- Work from the rules and the task: the artifact may not exist yet.
- Checks are quick and always give the same result."""

_CRITIQUE = """\
## Required output

One JSON object:

{ "issues": [ { "rule_id": "a.correctness.endpoints", "problem": "what is wrong",
                "fix_instruction": "what to change, exactly where, and how",
                "expected_effect": "Rule a.correctness.endpoints passes" } ] }

- At most 5 issues, each for exactly one rule of the evaluation above: severity fail first, then
  warn, heavier rules first.
--
- A fix instruction is so specific that it can be carried out without a question.
- Do not rewrite the artifact here."""

_REFINE = """\
## Required output

The whole improved artifact and nothing else: it replaces the old one as it comes.

- No remarks about it, and no fence around it.
--
- Carry out the fix instructions above, and only those.
- Everything they do not concern stays as it is, to the letter."""

FILES = """\
## Required output

Change the files themselves, in the working directory; or, where you cannot write files, answer with
one JSON object that gives the whole new text of each file you change, and nothing else:

{ "files": [ { "path": "src/module.py", "text": "the whole new text" } ] }

- Only the files named above may be changed. The tests, the rules and every configuration are
  sealed: a change of theirs ends the run.
--
- Carry out the fix instructions above; what they do not concern stays as it is.
- Make the tests pass by making the files right, not by recognising the tests."""

ORDERS: Mapping[Step, str] = {
    Step.PLAN: _PLAN,
    Step.PRODUCE: _PRODUCE,
    Step.PREPARE: _PREPARE,
    Step.CRITIQUE: _CRITIQUE,
    Step.REFINE: _REFINE,
}


def orders(text: str, own: str) -> str:
    """Return a text of this module; `own` takes the place of how to come to the answer."""
    form, _, conduct = text.partition(BREAK)
    return f"{form}\n\n## Orders\n\n{own.strip()}" if own.strip() else f"{form}\n{conduct}"
