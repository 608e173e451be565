"""Tools played well and badly by small programs."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pytest

from pytest_reflex.agents.prompts import prompt_for
from pytest_reflex.model.enums import Step
from pytest_reflex.model.steps import Askable, Question
from tests.agents.making import answer, request, rule, tool

pytestmark = pytest.mark.long

PLAN = '{"plan": ["a", "b", "c"]}'
READ = "import sys; text = sys.stdin.buffer.read()\n"


def test_answer_comes_from_stdout(tmp_path: Path) -> None:
    reply = answer(tool(tmp_path, READ + f"print('noise', file=sys.stderr); print('{PLAN}')"))
    assert (reply.text, reply.error, reply.agent) == (PLAN + "\n", "", "tool")
    assert (reply.usd, reply.tokens) == (None, None)
    assert reply.details["exit"] == 0
    assert reply.details["stderr"] == "noise\n"
    assert reply.seconds > 0


HASH_STDIN = READ + "import hashlib; print(hashlib.sha256(text).hexdigest())"
HASH_FILE = "import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())"
HASH_ARGUMENT = (
    "import hashlib, os, sys; print(hashlib.sha256(os.fsencode(sys.argv[1])).hexdigest())"
)


@pytest.mark.parametrize(
    ("program", "table", "size"),
    [
        (HASH_STDIN, {}, 200_000),
        (HASH_STDIN, {}, 5_000_000),
        (HASH_FILE, {"prompt": "file", "command": ["{prompt_file}"]}, 5_000_000),
        (HASH_ARGUMENT, {"prompt": "argument", "command": ["{prompt}"]}, 100_000),
    ],
    ids=["stdin", "stdin-5MB", "file-5MB", "argument"],
)
def test_b097_prompt_arrives_intact(
    tmp_path: Path, program: str, table: dict[str, Any], size: int
) -> None:
    text = 'é😀\u2028 {model} $HOME `x` "q" \'\r\n\\' + "x" * size
    asked = request(Step.REFINE, rule("a.x.y"), artifact=text)
    reply = tool(tmp_path, program, **table).respond(asked)
    assert reply.error == ""
    assert reply.text.strip() == hashlib.sha256(prompt_for(asked).encode()).hexdigest()


def test_a_tool_answers_any_prompt_with_what_it_is_told_around_it(tmp_path: Path) -> None:
    program = "import os, sys; print(sys.stdin.read() + os.environ['ROUND'])"
    agent = tool(tmp_path, program, note="Be brief.")
    assert isinstance(agent, Askable)
    reply = agent.ask(Question(prompt="Hello?", environment={"ROUND": "3"}))
    assert (reply.error, reply.text) == ("", "Hello?\nBe brief.\n3\n")


def test_long_prompt_is_no_argument(tmp_path: Path) -> None:
    agent = tool(tmp_path, "print(1)", prompt="argument", command=["{prompt}"])
    reply = answer(agent, task="x" * 131_072)
    assert "bytes; an argument holds at most 131,071" in reply.error
    assert 'prompt = "stdin" or "file"' in reply.error


def test_prompt_with_nul_is_no_argument(tmp_path: Path) -> None:
    agent = tool(tmp_path, "print(1)", prompt="argument", command=["{prompt}"])
    assert "holds a NUL" in answer(agent, task="a\0b").error


def test_prompt_that_is_no_text_is_told(tmp_path: Path) -> None:
    reply = answer(tool(tmp_path, "print(1)"), task="\ud800")
    assert reply.error == "the prompt is not valid text: surrogates not allowed"


BAD: dict[str, tuple[str, dict[str, Any], str]] = {
    "nothing": ("", {}, "it answered nothing"),
    "blanks": ("print(' ')", {}, "it answered nothing"),
    "nothing, with a reason": (
        "import sys; print('no key', file=sys.stderr)",
        {},
        "it answered nothing: no key",
    ),
    "status": (
        "import sys; print('half an answer'); sys.exit('boom')",
        {},
        "it left with exit status 1: boom",
    ),
    "dies mid-write": (
        "import os, sys; print('{\"plan\": [', flush=True); os.kill(os.getpid(), 9)",
        {},
        'it was ended by signal 9: {"plan": [',
    ),
    "not utf-8": (
        "import sys; sys.stdout.buffer.write(b'caf\\xe9')",
        {},
        "its answer is not UTF-8: byte 0xe9 at offset 3",
    ),
    "no json": ("print('hi')", {"answer": "json:result"}, "its output has no json:result"),
    "no path": ("print('{}')", {"answer": "json:result"}, "its output has no json:result"),
    "colours only": (r"print('\x1b[0m\x1b[2K')", {}, "it answered nothing"),
    "nothing to see": (r"print('\x00\x00\u200b')", {}, "it answered nothing"),
    "null": ("print('{\"result\": null}')", {"answer": "json:result"}, "it answered nothing"),
    "a number": ("print('{\"a\": 5}')", {"answer": "json:a"}, "its json:a is not text: 5"),
    "a truth": ("print('{\"a\": true}')", {"answer": "json:a"}, "its json:a is not text: true"),
    "empty result": (
        'print(\'{"result": ""}\')',
        {"answer": "json:result"},
        "it answered nothing",
    ),
    "no event": ("print('{}')", {"answer": "jsonl-last:a.b"}, "its output has no jsonl-last:a.b"),
    "no file": (
        "print(1)",
        {"answer": "file", "command": ["{answer_file}"]},
        "it did not write its answer to {answer_file}",
    ),
    "a pipe for a file": (
        "import os, sys; os.mkfifo(sys.argv[1])",
        {"answer": "file", "command": ["{answer_file}"]},
        "it did not write its answer to {answer_file}",
    ),
    "a link for a file": (
        "import os, sys; os.symlink('/etc/passwd', sys.argv[1])",
        {"answer": "file", "command": ["{answer_file}"]},
        "it did not write its answer to {answer_file}",
    ),
    "f16 a file of any size": (
        "import os, sys; open(sys.argv[1], 'wb').truncate(50_000_000_000)",
        {"answer": "file", "command": ["{answer_file}"]},
        "its answer is longer than 20,000,000 bytes",
    ),
    "flag": (
        'print(\'{"is_error": true, "result": "no such model"}\')',
        {"answer": "json:result", "failure": "json:is_error"},
        "it says that it failed (json:is_error): no such model",
    ),
    "error object": (
        'print(\'{"error": {"message": "bad key", "code": 1}}\')',
        {"answer": "json:response", "failure": "json:error"},
        "it says that it failed (json:error): bad key",
    ),
}


@pytest.mark.parametrize(("program", "table", "error"), BAD.values(), ids=BAD.keys())
def test_f28_bad_answer_is_an_error_with_its_reason(
    tmp_path: Path, program: str, table: dict[str, Any], error: str
) -> None:
    assert answer(tool(tmp_path, program, **table)).error == error


def test_tool_that_is_not_there_is_told(tmp_path: Path) -> None:
    agent = tool(tmp_path, "")
    missing = type(agent)(name="gone", command=("no-such-tool-here", "-p"))  # type: ignore[call-arg]
    assert "no-such-tool-here: it was not found" in missing.respond(request(Step.PLAN)).error


def test_tool_that_hangs_is_ended(tmp_path: Path) -> None:
    program = "import time; print('one', flush=True); time.sleep(60)"
    reply = answer(tool(tmp_path, program, timeout=3, grace=0.2))
    assert reply.error == "no answer within 3 s (the timeout of agents.tool)"
    assert reply.text == "one\n"


def test_b086_limit_in_an_echoed_prompt_is_a_time_out(tmp_path: Path) -> None:
    program = (
        "import sys, time; print('You have hit your 5-hour limit', flush=True); time.sleep(60)"
    )
    reply = answer(tool(tmp_path, program, timeout=3, grace=0.2))
    assert reply.error == "no answer within 3 s (the timeout of agents.tool)"
    assert "limited" not in reply.details


@pytest.mark.parametrize(
    ("program", "table"),
    [
        ("print('You have hit your limit, resets 5pm')", {}),
        (
            'print(\'{"is_error": true, "result": "Claude AI usage limit reached|17600"}\')',
            {"answer": "json:result", "failure": "json:is_error"},
        ),
        (
            'import sys; print(\'{"error": {"message": "Quota exceeded"}}\'); sys.exit(1)',
            {"answer": "json:response", "failure": "json:error"},
        ),
        ("import sys; sys.exit(print('Rate limit exceeded', file=sys.stderr))", {}),
        ("print('Rate limit exceeded')", {"answer": "json:result"}),
        ("import sys; sys.exit('API Error: 429 Too Many Requests')", {}),
        (
            'print(\'{"error": {"message": "refused by upstream: HTTP 429"}}\')',
            {"answer": "json:response", "failure": "json:error"},
        ),
    ],
    ids=["alone on stdout", "flag", "status", "on stderr only", "no json", "exit 1", "words"],
)
def test_b084_limit_is_no_answer(tmp_path: Path, program: str, table: dict[str, Any]) -> None:
    reply = answer(tool(tmp_path, program, **table))
    assert reply.error.startswith("the tool ran into a limit: ")
    assert reply.details["limited"] is True


def test_words_about_limits_in_a_failure_are_no_limit(tmp_path: Path) -> None:
    program = "import sys; print('I read: usage limit reached. And more.'); sys.exit(2)"
    reply = answer(tool(tmp_path, program))
    assert reply.error.startswith("it left with exit status 2")
    assert "limited" not in reply.details


def test_input_that_is_not_read_does_no_harm(tmp_path: Path) -> None:
    reply = answer(tool(tmp_path, f"print('{PLAN}')"), task="x" * 3_000_000)
    assert (reply.text, reply.error) == (PLAN + "\n", "")


def test_flood_is_ended(tmp_path: Path) -> None:
    reply = answer(tool(tmp_path, "while True: print('x' * 1000000)"))
    assert reply.error == "it wrote more than 200,000,000 bytes and was ended"


def test_answer_that_is_too_long_is_not_cut_in_silence(tmp_path: Path) -> None:
    reply = answer(tool(tmp_path, "print('x' * 21_000_000)"))
    assert reply.error == "its answer is longer than 20,000,000 bytes"


def test_status_that_counts_as_success_is_configured(tmp_path: Path) -> None:
    program = f"import sys; print('{PLAN}'); sys.exit(3)"
    assert answer(tool(tmp_path, program, success=[0, 3])).error == ""


def test_cancelled_request_ends_the_tool(tmp_path: Path) -> None:
    cancel = Event()
    timer = Timer(0.3, cancel.set)
    timer.start()
    reply = answer(tool(tmp_path, "import time; time.sleep(60)", grace=0.2), cancel=cancel)
    timer.join()
    assert reply.error == "it was ended because the run is ending"


STRUCTURED = {
    "type": "result",
    "is_error": False,
    "result": PLAN,
    "total_cost_usd": 0.25,
    "usage": {"input_tokens": 10, "output_tokens": 5},
    "stats": {"models": {"a": {"tokens": {"total": 3}}, "b": {"tokens": {"total": 4}}}},
}


def test_price_and_answer_come_from_a_json_document(tmp_path: Path) -> None:
    agent = tool(
        tmp_path,
        f"print('Loading...'); print({json.dumps(json.dumps(STRUCTURED))})",
        answer="json:result",
        failure="json:is_error",
        cost="json:total_cost_usd",
        tokens=["json:usage.input_tokens", "json:usage.output_tokens"],
    )
    reply = answer(agent)
    assert (reply.text, reply.usd, reply.tokens, reply.error) == (PLAN, 0.25, 15, "")


def test_wildcard_adds_up(tmp_path: Path) -> None:
    program = f"print({json.dumps(json.dumps(STRUCTURED))})"
    reply = answer(tool(tmp_path, program, tokens="json:stats.models.*.tokens.total"))
    assert reply.tokens == 7


def test_price_that_is_not_told_stays_unknown(tmp_path: Path) -> None:
    table = {"cost": "json:cost", "tokens": ["json:usage.input_tokens", "json:usage.none"]}
    reply = answer(tool(tmp_path, f"print({json.dumps(json.dumps(STRUCTURED))})", **table))
    assert (reply.usd, reply.tokens) == (None, None)


def test_last_event_of_a_stream_counts(tmp_path: Path) -> None:
    events = [
        {"type": "item.completed", "item": {"type": "agent_message", "text": "draft"}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": PLAN}},
        {"type": "turn.completed", "usage": {"input_tokens": 7}},
    ]
    lines = "\n".join(["warming up", *map(json.dumps, events), '{"broken'])
    agent = tool(
        tmp_path,
        f"print({lines!r})",
        answer="jsonl-last:item.text",
        tokens="jsonl-last:usage.input_tokens",
    )
    reply = answer(agent)
    assert (reply.text, reply.tokens) == (PLAN, 7)


def test_answer_comes_from_a_file(tmp_path: Path) -> None:
    program = "import sys; print('chatter'); open(sys.argv[1], 'w').write('the answer')"
    reply = answer(tool(tmp_path, program, answer="file", command=["{answer_file}"]))
    assert (reply.text, reply.error) == ("the answer", "")


def test_structured_answer_becomes_json_text(tmp_path: Path) -> None:
    program = 'print(\'{"result": {"plan": ["é"]}}\')'
    assert answer(tool(tmp_path, program, answer="json:result")).text == '{"plan": ["é"]}'


def test_environment_is_the_safe_set_and_what_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_TIME", "C")
    monkeypatch.setenv("MY_API_KEY", "k")
    monkeypatch.setenv("OTHER_SECRET", "s")
    program = "import json, os; print(json.dumps(dict(os.environ)))"
    seen = json.loads(answer(tool(tmp_path, program, env=["MY_API_KEY", "NOT_SET"])).text)
    assert seen["PATH"] == os.environ["PATH"]
    assert (seen["LC_TIME"], seen["MY_API_KEY"]) == ("C", "$MY_API_KEY")
    assert {"OTHER_SECRET", "NOT_SET", "PYTEST_CURRENT_TEST"} & set(seen) == set()


PLANTED = "planted-0123456789"


def test_b120_reference_is_filled_in_for_the_tool_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", PLANTED)
    program = (
        "import hashlib, sys; print(hashlib.sha256(sys.argv[2].encode()).hexdigest(), sys.argv)"
    )
    reply = answer(tool(tmp_path, program, command=["--key", "$API_KEY", "${API_KEY}", "$$HOME"]))
    assert hashlib.sha256(PLANTED.encode()).hexdigest() in reply.text
    assert "'$HOME'" in reply.text
    assert "$API_KEY" in reply.details["argv"]
    assert PLANTED not in repr(reply)


@pytest.mark.parametrize(
    "program",
    [
        "import os, sys; print(os.environ['API_KEY'])",
        "import os, sys; print(1); print(os.environ['API_KEY'], file=sys.stderr)",
        "import os, sys; sys.exit('bad key ' + os.environ['API_KEY'])",
        "import os, sys; print(os.environ['API_KEY'], flush=True); os.kill(os.getpid(), 15)",
    ],
    ids=["answer", "stderr", "status", "signal"],
)
def test_b120_echoed_secret_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setenv("API_KEY", PLANTED)
    reply = answer(tool(tmp_path, program, env=["API_KEY"]))
    assert PLANTED not in repr(reply)
    assert "$API_KEY" in repr(reply)


def test_reference_that_is_not_set_is_told(tmp_path: Path) -> None:
    reply = answer(tool(tmp_path, "print(1)", command=["$NO_SUCH_KEY"]))
    assert reply.error == "the command names $NO_SUCH_KEY, which is not set in the environment"


def test_values_that_are_no_secret_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASE_URL", "https://api.example.org")
    reply = answer(tool(tmp_path, "print('https://api.example.org')", env=["BASE_URL"]))
    assert reply.text == "https://api.example.org\n"


def test_nothing_is_left_in_the_folder_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    answer(tool(tmp_path, "print(1)", prompt="file", command=["{prompt_file}"]))
    assert list(folder.iterdir()) == []


def test_folder_with_blanks_and_quotes_does_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "My Proj $(x) 'q'"
    folder.mkdir()
    agent = tool(tmp_path, READ + "print(sys.argv[1])", command=[str(folder).replace("$", "$$")])
    assert answer(agent).text.strip() == str(folder)


def test_b120_a_secret_is_hidden_before_anything_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", PLANTED)
    program = (
        "import os, sys\n"
        "key = os.environ['API_KEY']\n"
        "sys.stderr.write('x' * 290 + key + 'y' * 1990)\n"
        "sys.stdout.write('no answer ' + key[:12])\n"
        "sys.exit(1)\n"
    )
    reply = answer(tool(tmp_path, program, env=["API_KEY"]))
    assert "planted" not in repr(reply)
    assert reply.text == "no answer $API_KEY"


def test_b120_a_secret_in_the_command_is_not_kept(tmp_path: Path) -> None:
    agent = tool(tmp_path, "import sys; print(sys.argv)", command=["--api-key", PLANTED])
    reply = answer(agent)
    assert PLANTED not in repr(reply)
    assert reply.text.endswith("'--api-key', '[hidden]']\n")
