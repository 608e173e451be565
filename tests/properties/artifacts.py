"""Artifacts of each kind, made of what checks look for: near to good ones, and to each other."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.properties.judging import Files

SCRAPS = [
    "TODO",
    "print(1)",
    "a@b.example",
    "v1.2.3",
    "secret",
    "# a",
    "x" * 40,
    "é",
    "\t",
    " ",
    "password: hunter2",
    "the cat sat on the mat.",
    "http://a.example/b",
    "{",
    "}",
    "[a](b)",
]
LINES = st.lists(st.sampled_from(SCRAPS), max_size=3).map(" ".join)
TEXTS = st.lists(LINES, max_size=12).map("\n".join)

BLOCKS = [
    "# Tidy\n",
    "## Usage\n",
    "## Installation\n",
    "## हिन्दी भाषा\n",
    "## A { #own }\n",
    "### B `c`\n",
    "Tidy\n====\n",
    "Usage\n-----\n",
    "It reads tables and writes tables for all who have some.\n",
    "See [usage](#usage), [own](#own) and [that][that].\n",
    "[that]: https://a.example\n",
    "[^1]: a note\n",
    "Text[^1] and ![i](i.png).\n",
    "![](no.png)\n",
    "<!-- # Usage -->\n",
    "```python\nprint('a')\n```\n",
    "```python\nprint 'a'\n```\n",
    '```json\n{"a": 1}\n```\n',
    "```json\n{'a': 1}\n```\n",
    "```\nmake\n```\n",
    "~~~sh\npip install tidy\n~~~\n",
    "```sh\nmake\n",
    "    pip install tidy\n",
    "- a\n- b\n",
    "* a\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "TODO: write this.\n",
    "> quoted [usage](#no)\n",
    "<h1>Tidy</h1>\n",
    '<a id="x"></a>\n',
    "[x](#x) [y](no/such.md)\n",
    "[Usage]: #usage\n",
    "See [Usage].\n",
]
FRONT = st.sampled_from(
    ["", "---\ntitle: T\n---\n", "+++\ntitle = 'T'\n# a\n+++\n", "---\na: [\n---\n"]
)
MARKDOWN = st.builds(
    lambda front, blocks: front + "\n".join(blocks),
    FRONT,
    st.lists(st.sampled_from(BLOCKS), max_size=9),
)

KEYS = """
    services web image build restart environment volumes networks depends_on include on jobs test
    runs-on steps run uses permissions timeout-minutes env name value password db_password api_key
    token server port host a b version tag secret_key kind spec containers mode
"""
WORDS = KEYS.split()
LEAVES = st.sampled_from(
    [
        None,
        True,
        0,
        1,
        8080,
        "",
        "web",
        "nginx:1.27",
        "nginx",
        "redis:alpine",
        "push",
        "ubuntu-24.04",
        "hunter2plain",
        "${A}",
        "${A:-b}",
        "${{ secrets.A }}",
        "changeme",
        "TODO",
        "/home/ann/x",
        "0666",
        "actions/checkout@v4",
        "actions/checkout@main",
        "AKIAIOSFODNN7EXAMPLE",
        "<fill in>",
        "a: b",
    ]
)
NODES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
    max_leaves=12,
)
TABLES = st.dictionaries(st.sampled_from(WORDS), NODES, max_size=5)
PARTS = [
    "# what the shop runs on\n",
    "services:\n  web:\n    image: nginx:1.27\n",
    "volumes:\n  data:\n",
    "  db:\n    image: postgres\n    environment:\n      POSTGRES_PASSWORD: 123456\n",
    "on: push\n",
    "jobs:\n  test:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: make\n",
    "permissions: {}\n",
    "server:\n  port: 8080\n",
    "server:\n  port:\n",
    "password: |\n  hunter2plain\n",
    "a: *no\n",
    "port = 8080\n",
    "[server]\n",
    'host = "a"\n',
    'password = "hunter2plain"\n',
    "PORT=8080\n",
    "DB_PASSWORD=hunter2plain\n",
    "URL=https://${HOST}\n",
    "HOST=\n",
    "---\n",
    '{"a": 1}\n',
    "[\n",
    "# HOST: the name\n",
    "root = true\n",
    "// a\n",
    "<<: *base\n",
    "base: &base {a: 1}\n",
]
DATA_NAMES = st.sampled_from(
    [
        "a.yaml",
        "compose.yaml",
        ".github/workflows/ci.yml",
        "a.json",
        "tsconfig.json",
        "app.toml",
        "a.ini",
        ".env",
        ".env.example",
        "en.json",
        "artifact.md",
        "package.json",
        "values.yaml",
    ]
)
DATA = st.one_of(
    TABLES.map(json.dumps),
    TABLES.map(lambda table: json.dumps(table, indent=2)),
    st.lists(st.sampled_from(PARTS), max_size=6).map("".join),
)

SCHEMAS = st.sampled_from(
    [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},
        {"$ref": "#/components/schemas/Pet"},
        {"$ref": "#/components/schemas/No"},
        {"type": "strin"},
        {},
        {"type": "integer", "default": "a"},
    ]
)
BODIES: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda schema, example: {"application/json": {"schema": schema, **example}},
    SCHEMAS,
    st.sampled_from([{}, {"example": "Rex"}, {"example": ["Rex"]}, {"examples": {}}]),
)
ANSWERS = st.builds(lambda body: {"description": "All", "content": body}, BODIES) | st.sampled_from(
    [{"description": "All"}, {}, {"$ref": "#/components/responses/No"}]
)
OPERATIONS = st.fixed_dictionaries(
    {"responses": st.dictionaries(st.sampled_from(["200", "404", "default"]), ANSWERS, max_size=2)},
    optional={
        "operationId": st.sampled_from(["listPets", "list_pets", "a b"]),
        "summary": st.sampled_from(["All pets of the shop", "TODO", ""]),
        "security": st.sampled_from([[], [{"key": []}], [{"no": []}]]),
        "requestBody": BODIES.map(lambda body: {"content": body}),
        "parameters": st.sampled_from(
            [[], [{"name": "limit", "in": "query", "schema": {"type": "integer"}}], [{"name": "a"}]]
        ),
    },
)
APIS = st.builds(
    lambda version, paths, more: {
        "openapi": version,
        "info": {"title": "Pets", "version": "1"},
        "paths": paths,
        **more,
    },
    st.sampled_from(["3.0.3", "3.1.0"]),
    st.dictionaries(
        st.sampled_from(["/pets", "/pets/{petId}", "/petOwners", "/2.0/pets"]),
        st.dictionaries(st.sampled_from(["get", "post"]), OPERATIONS, max_size=2),
        max_size=2,
    ),
    st.sampled_from(
        [
            {},
            {"components": {"schemas": {"Pet": {"type": "string", "example": "Rex"}}}},
            {
                "components": {
                    "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "K"}}
                }
            },
        ]
    ),
)
API_TEXTS = st.one_of(
    APIS.map(json.dumps),
    APIS.map(lambda api: json.dumps(api, indent=1)),
    APIS.map(
        lambda api: f"# Pets\n\n```yaml\n{json.dumps(api, indent=1)}\n```\n\n```json\n[1]\n```\n"
    ),
)

PLAIN = [
    "import os\n",
    "from typing import Any\n",
    "import json\n",
    "from a import f\n",
    "print('a')\n",
    "x = 1\n",
    "x: int = 1\n",
    "x: int = 'a'\n",
    "def f(a: int) -> int:\n    return a\n",
    "def f(a):\n    return a\n",
    "def f(a: str) -> str:\n    return a\n",
    "def g() -> int:\n    return f(1)\n",
    "y = undefined\n",
    "def h(a: list[int] = []) -> None:\n    a.append(1)\n",
    "class A:\n    def m(self) -> int: ...\n",
    "# TODO: more\n",
    "try:\n    x = 1\nexcept:\n    pass\n",
    "assert x\n",
    "eval(input())\n",
    "z = json.loads('1')\n",
    "z = os.getcwd() + 1\n",
    "raise SystemExit(x)\n",
]
STATEMENTS = [*PLAIN, "def f(:\n", "type P[T] = list[T]\n"]
"""Of those, ruff is asked what does not compile."""

PYTHON = st.lists(st.sampled_from(PLAIN), max_size=8).map("".join)
MODULES = st.sampled_from(["a.py", "b.py", "json.py", "typing.pyi", "test_a.py", "__init__.py"])


def one_file(
    names: st.SearchStrategy[str], texts: st.SearchStrategy[str]
) -> st.SearchStrategy[Files]:
    return st.builds(lambda name, text: {name: text.encode()}, names, texts)


def folder(of: st.SearchStrategy[tuple[str, str]], most: int = 4) -> st.SearchStrategy[Files]:
    """Return folders of at least two files; one of them is always there."""
    return st.lists(of, min_size=1, max_size=most).map(
        lambda files: {"LICENSE": b"MIT\n"} | {name: text.encode() for name, text in files}
    )


PAGES = st.tuples(st.sampled_from(["README.md", "docs/a.md", "docs/b.md"]), MARKDOWN)
SETTINGS = st.tuples(DATA_NAMES, DATA)
PROGRAMS = st.tuples(st.one_of(MODULES, st.just("pkg/a.py"), st.just("pkg/__init__.py")), PYTHON)
NOTES = st.tuples(st.sampled_from(["a.txt", "b.txt", "c/a.txt"]), TEXTS)


@st.composite
def rows(
    draw: st.DrawFn, kind: st.SearchStrategy[Files], least: int = 2, most: int = 3
) -> tuple[list[Files], bool]:
    """Return artifacts that follow one another, and whether size and time tell them apart.

    Some of them are another but for one character, some come back.
    """
    found = [draw(kind)]
    for _ in range(draw(st.integers(least - 1, most - 1))):
        way = draw(st.sampled_from(["another", "changed", "changed", "again"]))
        if way == "another":
            found.append(draw(kind))
        else:
            last = found[draw(st.integers(0, len(found) - 1))]
            found.append(_changed(draw, last) if way == "changed" else last)
    alike = draw(st.booleans())
    return ([_as_long(one, found) for one in found], True) if alike else (found, False)


def _changed(draw: st.DrawFn, files: Files) -> Files:
    name = draw(st.sampled_from(sorted(files)))
    text = files[name].decode()
    if not text:
        return files
    place = draw(st.integers(0, len(text) - 1))
    char = draw(st.sampled_from('a1 \n:#{}_"-'))
    return {**files, name: (text[:place] + char + text[place + 1 :]).encode()}


def _as_long(files: Files, others: list[Files]) -> Files:
    """Return the files, each as long as the longest of its name."""
    longest = {name: max(len(other.get(name, b"")) for other in others) for name in files}
    return {name: data.ljust(longest[name], b"\n") for name, data in files.items()}
