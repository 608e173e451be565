"""Fenced blocks parse in the language they name."""

from __future__ import annotations

import pytest

from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge

GOOD = [
    ("python", "x = ...\nawait go(...)\nreturn x\n"),
    ("python", "    indented = 1\n    more = 2\n"),
    ("python", ">>> 1 +\n... broken\n"),
    ("py", "%pip install x\n"),
    ("pycon", "not python\n"),
    ("json", '{"a": [1, null]}\n'),
    ("jsonc", "{} // comment\n"),
    ("yaml", "a: [http://x.y]\nb: !Ref c\n"),
    ("toml", "[a]\nb = 1\n"),
    ("text", "{\n"),
    ("", "{\n"),
]


@pytest.mark.parametrize(("language", "code"), GOOD)
def test_block_that_parses_or_is_of_another_language_passes(language: str, code: str) -> None:
    text = f"# T\n\n```{language}\n{code}```\n"
    assert judge(text, {"code_blocks": {"parse": True}}).outcome is Outcome.PASS


BAD = [
    ("python", "x = 1\nprint 'a'\n", "a python block does not parse: Missing parentheses", 5),
    ("python", "(" * 5000 + "\n", "a python block does not parse: too many nested", 4),
    ("json", "{'a': 1}\n", "a json block does not parse: Expecting property name", 4),
    ("json", "[,\n", "a json block does not parse: Expecting value", 4),
    ("yml", "a: 1\na: 2\n", "a yml block does not parse: duplicate key 'a', first in line 4", 5),
    ("yaml", "a:\n- [b\nc: d\n", "a yaml block does not parse: did not find expected", 6),
    ("toml", "a = 1\nb =\n", "a toml block does not parse: Invalid value", 5),
]


@pytest.mark.parametrize(("language", "code", "message", "line"), BAD, ids=[m for *_, m, _ in BAD])
def test_block_that_does_not_parse_fails_at_its_line(
    language: str, code: str, message: str, line: int
) -> None:
    result = judge(f"# T\n\n```{language}\n{code}```\n", {"code_blocks": {"parse": True}})
    assert result.message.startswith(message)
    assert result.location
    assert result.location.line == line


FRAGMENTS = [
    ("python", "Some text.\n\nNote: # (1)!\n    Some information.\n"),
    ("python", "Return the size, in bytes.\n"),
    ("py", "One line of it.\n\nMore lines follow: they say why.\n"),
    ("json", '[\n  {"a": 1},\n  ... (8 more items) ...\n  {"a": 2}\n]\n'),
    ("json", '{\n  "a": [\n    1,\n    … and so on\n  ]\n}\n'),
    ("json", '{\n  "a": ...,\n  "b": 2,\n  ... the rest ...\n}\n'),
    ("toml", "[tool.<NAME>]\na = <value>\n\n[tool.<OTHER_NAME>]\na = 1\n"),
    ("toml", "[<a name>.env]\n<KEY> = 1\n"),
    ("yaml", "{!../config.yml!}\n"),
    ("json", '--8<-- "config.json"\n'),
    ("python", '--8<-- "a.py"\nx = 1\n'),
    ("toml", "a = 1\n{! b.toml !}\n"),
    ("yaml", "# a comment\nplaybook.yml name # one\nother.yml name\n"),
    ("python", "# one\n@auth().apply_to(path=['/a'])\n\n# two\n@auth().skip_for(path='/b')\n"),
    ("python", "@one\n\n@two(a)\ndef f():\n    return 1\n"),
    ("python", "@one\n\nx = 1\n"),
    ("python", "class A:\n    def f(self, ...):\n        ...\n\ndef g(...):\n    ...\n"),
    ("json", '"scripts": {\n  "test": "ava"\n}\n'),
    ("json", '"a": 1,\n"b": [2, 3],\n'),
    ("json", '{\n  "a": 1,\n  ...\n}\n'),
    ("json", '{\n  ...\n  "a": {...},\n  "b": ...,\n  …\n}\n'),
    ("json", '[{"id": 1}, ...]\n'),
    ("json", '{\n  // how long, in seconds\n  "timeout": 5 /* at most 9 */\n}\n'),
    ("json", '{"id": 1}\n{"id": 2}\n'),
    ("json", '{\n  "a": 1,\n  // ...\n}\n'),
    ("json", '// tsconfig.json\n{"a": [1, 2,],}\n'),
    ("json", '{\n  "a": true # a remark\n}\n'),
    ("toml", "[a]\nb = {...}\nc = …\n"),
    ("python", "@app.get('/')\n"),
    ("python", "f'{x['a']}'\n"),
    ("python", "type Pair[T] = tuple[T, T]\n"),
    ("json", '{"id": <your id>, "url": "http://x.y//z", "port": {{ port }}}\n'),
    ("yaml", "...\n  app:\n    image: a\n...\n"),
    ("yml", "jobs:\n  ...\n  test:\n    steps: [a]\n  # ...\n"),
    ("yaml", "    - a\n...\nb: 1\n"),
    ("yaml", "a: {{ .Values.a }}\n{{- if .b }}\nb: 1\n{{- end }}\n"),
    ("yaml", "services:\n  [...]\n  db: {}\n"),
    ("toml", "[tool]\n...\na = 1\n"),
    ("toml", "name = ...\n[b]\n# ...\n"),
    ("python", "app = App(title='x', ...)\nrun(app, ..., port=1)\n"),
    ("python", "{'a': 1, ...}\n"),
    ("python", "def f():\n    ...\n\nroutes = [\n    ...\n    Route('/a'),\n]\n"),
    ("python", '    ... "name": item.name ...\n'),
    ("python", "x = 1\n…\nprint(x)\n"),
    ("python", '"name": "x",\n"items": [1],\n'),
    ("python", "title='x',\nport=80,\n"),
    ("python", "def fetch(url: str, *, timeout: float = 5) -> bytes\n"),
    ("py", "class Shop(Base):\n"),
]


@pytest.mark.parametrize(("language", "code"), FRAGMENTS)
def test_part_of_a_file_parses(language: str, code: str) -> None:
    text = f"# T\n\n```{language}\n{code}```\n"
    assert judge(text, {"code_blocks": {"parse": True}}).outcome is Outcome.PASS


BROKEN = [
    ("python", "Call it.\nx = 1 +\n"),
    ("python", "Call the function.\n\nf(1)\n"),
    ("python", "Install it first.\npip install x\n"),
    ("python", "Some text without an end\n"),
    ("json", '{\n  "a": 1\n  ... "b"\n}\n'),
    ("json", '[\n  {"a": 1},\n  ... (8 more) ...\n  {"a" 2}\n]\n'),
    ("toml", "[tool.<NAME>]\na <value>\n"),
    ("toml", "a = <b\n"),
    ("yaml", "{!a.yml!}\nb: [\n"),
    ("python", "@one\n\n@two(a\n"),
    ("python", "@one\ndef f(a, ...)\n    return 1\n"),
    ("python", "async def f(self, a: int)\n    if ...:\n        return False\n"),
    ("yaml", "a: 1\n  b: 2\n"),
    ("json", '"a": 1\n"b": 2\n'),
    ("json", '{"a": 1,}\n'),
    ("json", '{\n  ...\n  "a" 1\n}\n'),
    ("json", '{\n  "a": {...\n}\n'),
    ("json", "{\n  // a remark\n  'a': 1\n}\n"),
    ("json", "hello\n"),
    ("yaml", "...\na: [1\nb: 2\n"),
    ("yaml", "a: 1\n...\n  b: 2\n c: 3\n"),
    ("toml", "...\na = \n"),
    ("python", "f(1, ...)\nprint 'a'\n"),
    ("python", "columns = ['a', 'b'\n"),
    ("python", "x = 1 +\ny = 2\n"),
    ("python", "def f(x)\n    return x\n"),
    ("python", "pip install x\n"),
    ("python", "if x == 1\n    y()\n"),
]


@pytest.mark.parametrize(("language", "code"), BROKEN)
def test_part_of_a_file_with_a_fault_does_not_parse(language: str, code: str) -> None:
    result = judge(f"```{language}\n{code}```\n", {"code_blocks": {"parse": True}})
    assert result.message.startswith(f"a {language} block does not parse: ")


@pytest.mark.parametrize(
    "text", ["Run it:\n\n    make\n", "<pre><code>\nmake\n</code></pre>\n", "```\nmake\n```\n"]
)
def test_block_without_a_fence_is_one_too(text: str) -> None:
    assert judge(text, {"code_blocks": {"min_count": 1}}).outcome is Outcome.PASS
    result = judge(text, {"code_blocks": {"min_count": 2}})
    assert result.message == "1 code blocks with content, at least 2 are wanted"


def test_fence_that_is_never_closed_is_found() -> None:
    result = judge("# T\n\n```sh\nmake\n\n## Usage\n", {"code_blocks": {"parse": True}})
    assert result.message == "a fence is never closed"
    assert result.location
    assert result.location.line == 3


def test_fence_that_only_looks_closed_is_found() -> None:
    result = judge("```sh\nmake\n```text\n", {"code_blocks": {"parse": True}})
    assert result.message == "a fence is never closed"


def test_fence_in_a_list_ends_with_it() -> None:
    text = "- a\n\n  ```sh\n  make\n\nafter\n"
    assert judge(text, {"code_blocks": {"parse": True}}).outcome is Outcome.PASS


def test_empty_blocks_do_not_count() -> None:
    result = judge("```sh\n```\n\n```sh\nmake\n```\n", {"code_blocks": {"min_count": 2}})
    assert result.message == "1 code blocks with content, at least 2 are wanted"


def test_language_narrows_what_is_counted() -> None:
    text = "```sh\nmake\n```\n\n```JSON\n{}\n```\n"
    asked = {"language": "json", "min_count": 1}
    assert judge(text, {"code_blocks": asked}).outcome is Outcome.PASS
    assert judge(text, {"code_blocks": asked | {"min_count": 2}}).outcome is Outcome.FAIL


def test_fence_without_language_is_named_with_its_line() -> None:
    result = judge("a\n\n```\nmake\n```\n", {"code_blocks": {"tagged": True}})
    assert result.evidence == "line 3: a fenced block names no language"


SHOWN_AS_WRONG = [
    "## Problematic code\n",
    "❌ Do not write this:\n",
    "# Incorrect\n",
    "This is **invalid** and is taken for text:\n",
    "An example of wrong usage:\n",
]


@pytest.mark.parametrize("said", SHOWN_AS_WRONG)
@pytest.mark.parametrize("block", ["```yaml\na: 1\na: 2\n```\n", '```json\n{"a" 1}\n```\n'])
def test_block_that_is_shown_as_wrong_need_not_parse(said: str, block: str) -> None:
    assert (
        judge(f"# A\n\n{said}\n{block}", {"code_blocks": {"parse": True}}).outcome is Outcome.PASS
    )


SHOWN_AS_RIGHT = [
    "## Problematic code\n\n## Correct code\n",
    "## Bad\n\nWrite this:\n",
    "If the token is invalid, the answer is:\n",
    "## Broken links\n",
]


@pytest.mark.parametrize("said", SHOWN_AS_RIGHT)
def test_block_that_is_not_shown_as_wrong_has_to_parse(said: str) -> None:
    result = judge(f"{said}\n```json\n{{1}}\n```\n", {"code_blocks": {"parse": True}})
    assert result.outcome is Outcome.FAIL
