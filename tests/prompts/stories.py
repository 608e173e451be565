"""Short runs of every driver, whose agents keep what they are asked: the prompts by name.

Each run is a real one; what differs from run to run (ids, folders, times) is made equal.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_reflex.agents.judge import ask_for, judge_prompt
from pytest_reflex.agents.prompts import prompt_for, prompt_parts
from pytest_reflex.agents.replay import normalize
from pytest_reflex.contracts.validate import ContractError
from pytest_reflex.drivers.common.measure import Attempt
from pytest_reflex.drivers.common.measure_criteria import AgentMeasure
from pytest_reflex.drivers.iterate.procedures import tokens_of
from pytest_reflex.drivers.iterate.prompt import prompt_sections
from pytest_reflex.model.judged import Case
from pytest_reflex.model.steps import Question, Reply, StepRequest
from tests.drivers.iterate.project import Project as IterateProject
from tests.drivers.pytest_loop.stage import Project as SessionProject
from tests.drivers.reflex.stage import Script, Stage

Parts = Sequence[tuple[str, str]]

TASK = "A README for tidy, a command that sorts the files of a folder"
CRITERIA = """\
name: readme
rules:
  - id: a.completeness.title
    description: It begins with a title
    severity: fail
    check: {type: content, search: '\\A# \\S', expected: a title in the first line}
  - id: a.completeness.usage
    description: It shows how tidy is used
    severity: fail
    hint: Add a section `## Usage` with an example
    check:
      - {type: content, search: '^tidy (-\\w+ )*\\S+$', block: sh, expected: a call of tidy}
      - {type: content, search: tidy --help, literal: true, section: Usage}
  - id: a.quality.plain
    description: It is written plainly
    severity: warn
    check: No sentence has more than twenty words, and none says `simply`
  - id: b.quality.license
    description: It names its license
    severity: fail
    check: {type: content, search: MIT, section: License, expected: the name of a license}
  - id: b.quality.todo
    description: Nothing is left to do
    severity: warn
    check: {type: content, search: TODO, negate: true, expected: no word TODO}
"""
FIRST = "# tidy\n\nIt simply sorts files.\n"
SECOND = "# tidy\n\nIt sorts files.\n\n## Usage\n\n```sh\ntidy .\n```\n\nSee `tidy --help`.\n"
PLANS = [
    {"plan": ["Write the title (a.completeness.title)", "Show a call", "Use short sentences"]},
    {"plan": ["Add `## License` (b.quality.license)", "Keep the usage", "Keep the title"]},
]


@dataclass(frozen=True, slots=True)
class Golden:
    """A prompt, and its parts with their titles."""

    prompt: str
    parts: Parts

    @property
    def text(self) -> str:
        """What is kept: the tokens, and behind a line the prompt."""
        counts = [f"{title} {tokens_of(text)}" for title, text in self.parts]
        total = f"Tokens: {tokens_of(self.prompt)}"
        return "\n".join([total, *(f"- {count}" for count in counts), "=" * 80, self.prompt])


def all_prompts(folder: Path) -> dict[str, Golden]:
    """Return the prompts of all stories; `folder` is an empty one to play in."""
    found: dict[str, Golden] = {}
    for name, story in STORIES.items():
        place = folder / name
        place.mkdir()
        found |= {f"{name}-{key}": golden for key, golden in story(place)}
    return found


Story = Iterator[tuple[str, Golden]]


def _of_step(request: StepRequest, project: Path) -> Golden:
    def plain(text: str) -> str:
        return normalize(text, run_ids=[request.run_id], folders=[str(project)])

    parts = [(part.title, plain(part.text)) for part in prompt_parts(request)]
    return Golden(plain(prompt_for(request)), parts)


def _named(requests: Sequence[StepRequest], project: Path) -> Story:
    """Yield prompts by step, iteration, phase and try."""
    seen: dict[str, int] = {}
    for request in requests:
        name = f"{request.step.value.lower()}-{request.iteration}{request.level.value.lower()}"
        seen[name] = seen.get(name, 0) + 1
        again = "" if seen[name] == 1 else f"-try{seen[name]}"
        yield f"{name}{again}", _of_step(request, project)


def _checks(*searches: str) -> str:
    given = {"rule_id": "a.quality.plain", "type": "content", "negate": True}
    return json.dumps({"checks": [{**given, "search": one} for one in searches]})


def _critique(*given: tuple[str, str]) -> str:
    rows = [
        {
            "rule_id": rule_id,
            "problem": "it is missing",
            "fix_instruction": instruction,
            "expected_effect": f"Rule {rule_id} passes",
        }
        for rule_id, instruction in given
    ]
    return json.dumps({"issues": rows})


def loop(folder: Path) -> Story:
    """Play two iterations: each step is asked, and each is asked again after a refusal."""
    usage = ("a.completeness.usage", "Add `## Usage` with `tidy .` in a block, and `tidy --help`")
    script = Script(
        plan=['{"plan": ["only one"]}', *map(json.dumps, PLANS)],
        produce=["I need permission to write files.", FIRST, SECOND],
        prepare=['{"checks": []}', _checks("simply"), _checks("simply")],
        critique=[_critique(("a.x.unknown", "say it")), _critique(usage), _critique(usage)],
        refine=["", SECOND],
    )
    stage = Stage(folder, CRITERIA)
    stage.play(script, {"loop.max_iterations": 2}, task=TASK, sequential=True)
    yield from _named(script.requests, folder)


def loop_long(folder: Path) -> Story:
    """Play one that is at phase B in its second iteration, and has a draft and feedback."""
    draft = folder / "draft.md"
    draft.write_text(FIRST)
    license_ = ("b.quality.license", "Add `## License` with `MIT`")
    script = Script(
        plan=[json.dumps(one) for one in PLANS],
        produce=SECOND,
        prepare=[_checks("(?!)"), _checks("simply")],
        critique=_critique(license_),
        refine=SECOND,
    )
    stage = Stage(folder, CRITERIA)
    limits = {"loop.max_iterations": 3}
    stage.play(
        script, limits, task=TASK, draft=draft, sequential=True, ideal="A page to be proud of"
    )
    yield from _named(script.requests, folder)


_SAVE = """\
step = os.environ["PYTEST_REFLEX_STEP"]
saved = pathlib.Path({folder!r}) / f"{{calls}}-{{step.lower()}}"
saved.write_text(prompt)
issue = {{"rule_id": "a.sums.add", "problem": "1 - 2 is not a sum", "fix_instruction": "use +",
         "expected_effect": "Rule a.sums.add passes"}}
if step == "PLAN":
    print(json.dumps({{"plan": ["Add in add", "Halve in half", "Run the tests"]}}))
elif step == "CRITIQUE":
    print(json.dumps({{"issues": [issue]}}))
elif calls < 4:
    print("I have no file.")
else:
    fix()
"""


def session(folder: Path) -> Story:
    """Play a loop over a session in which an agent plans, criticises and edits."""
    saved = folder / "saved"
    saved.mkdir()
    project = SessionProject(folder / "project", _SAVE.format(folder=str(saved)))
    steps = [f"--reflex-agent={step}=script" for step in ("plan", "critique", "refine")]
    command = [sys.executable, "-m", "pytest", *project.new(*steps, "-q")]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = _run(command, project.folder, environment)
    names = sorted(saved.iterdir(), key=lambda path: int(path.name.partition("-")[0]))
    assert len(names) > 2, done.stdout + done.stderr
    for path in names:
        prompt = path.read_text("utf-8")
        run_id = re.findall(r"for run (\S+),", prompt)
        plain = normalize(prompt, run_ids=run_id, folders=[str(project.folder)])
        yield path.name, Golden(plain, _split(plain))


def _run(
    command: Sequence[str], folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def _split(prompt: str) -> Parts:
    """Return the sections of a prompt that came from another process; data has none."""
    parts = [("Preamble", "")]
    mark = ""
    for line in prompt.splitlines(keepends=True):
        if found := _BEGIN.match(line):
            mark = found[1]
        is_head = not mark and line.startswith("## ")
        title, text = (line[3:].strip(), "") if is_head else parts.pop()
        parts.append((title, text + line))
        mark = "" if mark and line.startswith(f"----- END {mark}") else mark
    return parts


_BEGIN = re.compile(r"----- BEGIN ([0-9a-f]{16}) -----$", re.MULTILINE)
_GATE = """\
[iterate.gates.tests]
command = ["sh", "-c", "test -e done || { echo 1 failed; exit 1; }"]
"""
_KEEP = """\
cp prompt {folder}/"$PYTEST_REFLEX_ITERATION"
[ "$PYTEST_REFLEX_ITERATION" = 1 ] || touch done
"""


def iterate(folder: Path) -> Story:
    """Run three iterations of a procedure, of which the first fails by its gate."""
    project = IterateProject(folder / "project", "change", more=_GATE)
    script = project.folder / "agent.sh"
    keep = _KEEP.format(folder=folder)
    script.write_text(script.read_text().replace("cat > prompt\n", f"cat > prompt\n{keep}"))
    command = [sys.executable, "-m", "pytest_reflex", "iterate", "run", "fix-tests", "-n", "3"]
    done = _run(command, project.folder, dict(os.environ))
    kept = [path for path in sorted(folder.iterdir()) if path.name.isdigit()]
    assert kept, done.stdout + done.stderr
    for path in kept:
        plain = normalize(path.read_text("utf-8"), folders=[str(project.folder)])
        yield path.name, Golden(plain, prompt_sections(plain))


class _Asked:
    """An agent that gives no answer to rely on, and keeps the questions."""

    name = "asked"

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def ask(self, question: Question) -> Reply:
        self.prompts.append(question.prompt)
        return Reply(text="It reads well: pass.", agent=self.name)


def judge(folder: Path) -> Story:
    """Ask for a vote, twice."""
    del folder
    case = Case(
        rule_id="b.quality.clear",
        description="A newcomer can follow it",
        rubric="Pass: each term is explained. Fail: one is not.",
        texts={"README.md": SECOND},
        votes=3,
    )
    agent = _Asked()

    def refuse(text: str, refusal: str) -> str:
        raise ContractError("the answer holds no JSON object that keeps the contract")

    ask_for(agent, lambda refusal: Question(prompt=judge_prompt(case, refusal)), refuse)
    for number, prompt in enumerate(agent.prompts, 1):
        yield f"try{number}", Golden(prompt, _split(prompt))


def measure(folder: Path) -> Story:
    """Ask for a measurement, twice."""
    del folder
    agent = _Asked()
    AgentMeasure(agent, "How many endpoints have no example?", unit="endpoints")(Attempt())
    for number, prompt in enumerate(agent.prompts, 1):
        yield f"try{number}", Golden(prompt, _split(prompt))


STORIES: dict[str, Callable[[Path], Story]] = {
    "loop": loop,
    "loop-at-b": loop_long,
    "pytest-loop": session,
    "iterate": iterate,
    "judge": judge,
    "measure": measure,
}
