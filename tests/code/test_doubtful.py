"""What ruff finds, and is a fault in some places only; what this Python is too old to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.model.enums import Outcome
from tests.code.judging import judge

pytestmark = pytest.mark.variants

SQL = "def f(db, name, table, ids):\n    "
METHOD = "class A(B):\n    def f(self):\n"
OPEN = "class A:\n    def f(self):\n        raise NotImplementedError\n"
RUN = "def run(path, space, text):\n    "
LEFT_ALONE = [
    (
        "input",
        RUN + "with open(path) as f:\n        exec(compile(f.read(), path, 'exec'), space)\n",
    ),
    ("input", RUN + "exec(compile(path.read_bytes(), str(path), 'exec'), space)\n"),
    ("input", RUN + "code = compile(open(path).read(), path, 'exec')\n    exec(code, space)\n"),
    (
        "input",
        RUN + "t = path.open('rb').read().decode()\n    exec(compile(t, path, 'exec'), {})\n",
    ),
    (
        "input",
        RUN + "f = io.open(path)\n    exec(compile(f.read(), path, 'exec'), globals=space)\n",
    ),
    ("input", "def f(x):\n    raise ValueError(f'cannot select {x} from the list')\n"),
    ("input", "def f(log, x):\n    log.warning('delete from %s where x = %s' % (x, x))\n"),
    ("input", "def f(x):\n    message = f'update {x} set it = {x} there'\n    print(message)\n"),
    ("input", SQL + "return f\"select * from t where n = '{name}'\"\n"),
    ("input", SQL + "db.execute(f'select * from {table} where n = ?', (name,))\n"),
    ("input", SQL + "db.execute('select count(*) from %s' % table)\n"),
    ("input", "def f(db, x):\n    db.log('é' * 9, f'delete from t where n = {x}')\n"),
    (
        "input",
        SQL + "q = ','.join('?' * 9)\n    db.execute(f'delete from t where n in ({q})', ids)\n",
    ),
    ("input", SQL + "db.execute('select 1 where n in (%s)' % ','.join(['%s'] * len(ids)), ids)\n"),
    ("input", SQL + "db.run('select n from t where n in (' + ', '.join('?' for _ in ids) + ')')\n"),
    ("input", SQL + "db.run('delete from t where n in ({})'.format(', '.join(['?'] * 3)), ids)\n"),
    ("input", "import subprocess\n\nsubprocess.run('ls -l | wc', shell=True)\n"),
    ("input", "import os\n\nos.system('clear')\n"),
    ("input", "def test_age(age):\n    assert age > 0\n"),
    ("functions", "@click.group()\ndef cli():\n    'Sort downloads.'\n"),
    ("functions", "@app.callback()\ndef main():\n    pass\n"),
    ("functions", "@functools.singledispatch\ndef f(x):\n    raise NotImplementedError(type(x))\n"),
    ("functions", "@scenario('a.feature', 'It runs')\ndef test_run():\n    pass\n"),
    ("functions", "x = 1  # the implementation is in b.py\n"),
    ("bugs", "def f(x):\n    'é'.format(); x.y\n"),
    ("bugs", "def f(xs):\n    for x in xs:\n        print('é', (lambda: x)())\n"),
    ("input", "def f(attrs):\n    assert not attrs\n"),
    ("input", "def f(a):\n    assert g()\n    assert a.b and len(a)\n"),
    ("input", "def f(a):\n    b = g(a)\n    assert a == b\n"),
    ("input", "def _f(a):\n    assert a > 0\n"),
    ("input", "class _A:\n    def f(self, a):\n        assert a > 0\n"),
    ("input", "def f():\n    def g(a):\n        assert a > 0\n    return g\n"),
    ("bugs", "def handle():\n    raise\n"),
    ("bugs", "class A:\n    def error(self):\n        if self.debug:\n            raise\n"),
    ("bugs", "def f(x):\n    x.y\n    x.y.z\n"),
    ("bugs", "try:\n    unicode\nexcept NameError:\n    unicode = str\n"),
    ("bugs", "def f(xs):\n    for x in xs:\n        print((lambda: x)())\n"),
    ("bugs", "def f(xs):\n    for x in xs:\n        def g():\n            return x\n        g()\n"),
    ("bugs", "bytes = bytes\n"),
    ("bugs", "def f(a):\n    a = a\n    return a\n"),
    ("bugs", "from os import *\n\nprint(sep)\n"),
    ("bugs", "def f():\n    x = 1\n    return f''\n"),
    ("bugs", "try:\n    get_ipython()\nexcept NameError:\n    pass\n"),
    ("bugs", "def f(a):\n    for a in a:\n        print(a)\n"),
    ("functions", "class A:\n    def f(self):\n        raise NotImplementedError\n"),
    ("functions", "class A(B):\n    def f(self):\n        raise NotImplementedError(WHY)\n"),
    ("functions", METHOD + '        "Subclasses do."\n        raise NotImplementedError\n'),
    ("functions", "class BaseA:\n    def on_start(self):\n        pass\n"),
    ("functions", METHOD + '        "It does nothing here."\n'),
    ("functions", "def f():\n    pass  # there is nothing to close on this system\n"),
    ("functions", "def noop(*a):\n    pass\n"),
    ("functions", "class A:\n    def __exit__(self, *a):\n        pass\n"),
    ("functions", OPEN + "    def g(self):\n        return self.f()\n"),
    ("functions", "if a:\n    def f():\n        return 1\nelse:\n    def f():\n        pass\n"),
    ("functions", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    def f() -> int: ...\n"),
    ("functions", "class A(object):\n    def f(self):\n        raise NotImplementedError('f')\n"),
    ("functions", "class BaseA(B):\n    def f(self):\n        raise NotImplementedError\n"),
    (
        "functions",
        "class C(A): pass\n\nclass A(B):\n    def f(self):\n        raise NotImplementedError\n",
    ),
    ("functions", "class A:\n    def on_end(self):\n        pass\n"),
    ("functions", "class A:\n    async def visit_Name(self, node):\n        pass\n"),
    ("functions", "class A:\n    def tearDown(self):\n        pass\n"),
    ("functions", "class A:\n    def before_save(self):\n        'Nothing to do.'\n"),
    ("functions", "# XXX: explains\nx = 1\n"),
    ("functions", "# Implementation of the rest of it\n# implements f\nx = 1  # ... and so on\n"),
    ("functions", "# the todo list\nx = 1\n"),
    ("types", "from . import x\n"),
    ("types", "from .. import x\nfrom ..b import c\n\nx.y(c)\n"),
    ("types", "from ...b.c import d\nfrom . import e as f\n\nf(d)\n"),
]


@pytest.mark.parametrize(("aspect", "text"), LEFT_ALONE)
def test_what_is_as_it_should_be_is_left_alone(aspect: str, text: str) -> None:
    result = judge(text, aspect)
    assert (result.outcome, result.evidence) == (Outcome.PASS, "")


FOUND = [
    ("input", RUN + "exec(compile(text, path, 'exec'), space)\n", "S102"),
    ("input", RUN + "exec(open(path).read(), space)\n", "S102"),
    ("input", RUN + "exec(compile(open(path).read(), path, 'exec'))\n", "S102"),
    ("input", RUN + "exec(compile(open(path).read(), '<text>', 'exec'), space)\n", "S102"),
    ("input", RUN + "exec(compile(urlopen(path).read(), path, 'exec'), space)\n", "S102"),
    ("input", RUN + "exec(compile(x.open(path).read(), path, 'exec'), space)\n", "S102"),
    (
        "input",
        RUN + "t = open(path).read()\n    t = g(t)\n    exec(compile(t, t, 'exec'), {})\n",
        "S102",
    ),
    ("input", RUN + "f = f.read()\n    exec(compile(f, path, 'exec'), space)\n", "S102"),
    ("input", RUN + "eval(compile(open(path).read(), path, 'eval'), space)\n", "S307"),
    ("input", SQL + "db.execute(f\"select * from t where n = '{name}'\")\n", "S608"),
    ("input", SQL + "db.execute('select * from t where n = %s' % name)\n", "S608"),
    ("input", SQL + "db.execute('delete from t where n = ' + name)\n", "S608"),
    ("input", SQL + "db.execute('insert into t values (1, {})'.format(name))\n", "S608"),
    ("input", SQL + "q = f'select * from t where n = {name}'\n    db.execute(q)\n", "S608"),
    ("input", "class A:\n    q = f'select * from t where n = {n}'\ndb.execute(A.q, q)\n", "S608"),
    ("input", SQL + "self.q = f'delete from t where n = {name}'\n    db.run(self.q)\n", "S608"),
    ("input", SQL + "return f'delete from t where n={name}'\n\n\ndb.execute(f(1))\n", "S608"),
    ("input", "def f(age):\n    '''Words.'''\n    assert age > 0\n", "S101"),
    ("input", "def f(a, b):\n    assert b\n    assert a in ('x', 'y')\n", "S101"),
    ("input", "class A:\n    def f(self, a):\n        assert 0 <= len(a) < 3\n", "S101"),
    ("input", SQL + "q = ','.join(ids)\n    db.run(f'delete from t where n in ({q})')\n", "S608"),
    (
        "input",
        SQL
        + "q = ','.join('?' * 9)\n    q += name\n    db.run(f'delete from t where n in ({q})')\n",
        "S608",
    ),
    ("input", SQL + "db.run('delete from t where n=%s and m in (%s)' % (name, '?'))\n", "S608"),
    ("input", "import subprocess\n\n\ndef f(a):\n    subprocess.run(a, shell=True)\n", "S602"),
    ("input", "import os\n\n\ndef f(a):\n    os.system('rm ' + a)\n", "S605"),
    ("functions", "@app.command()\ndef run():\n    pass\n", "run has no body"),
    ("functions", "x = 1\n# implementation omitted\n", "something is missing"),
    ("functions", "x = 1\n# details omitted for brevity\n", "something is missing"),
    ("functions", "def f():\n    # existing code here\n    return 1\n", "something is missing"),
    ("input", SQL + "db.run(f'delete from t where n={name}' if name else table)\n", "S608"),
    ("bugs", "def f(a=[]):\n    a.append(1)\n", "B006"),
    ("bugs", "def f(*, a={}):\n    a['b'] = 1\n", "B006"),
    ("bugs", "def f(a=[]):\n    return a\n", "B006"),
    ("bugs", "class A:\n    def __init__(self, a=[]):\n        self.a = a\n", "B006"),
    ("bugs", "fs = []\nfor i in range(3):\n    fs.append(lambda: i)\n", "B023"),
    ("bugs", "fs = {}\nfor i in range(3):\n    fs[i] = lambda: i\n", "B023"),
    ("bugs", "fs = {}\nfor i in 'ab':\n    fs['é' + i] = lambda: i\n", "B023"),
    ("bugs", "fs = []\nfor i in 'ab':\n    def g():\n        return i\n    fs.append(g)\n", "B023"),
    ("bugs", "class A:\n    def __init__(self, a):\n        a = a\n", "PLW0127"),
    ("bugs", "def f(a):\n    [a]\n", "B018"),
    ("bugs", "def f(a):\n    a == 1\n", "B015"),
    ("conventions", "def f():\n    x = 1\n    return 2\n", "F841"),
    ("functions", "def f():\n    raise NotImplementedError\n", "f has no body"),
    ("functions", "class A(B):\n    def f(self):\n        raise NotImplementedError\n", "no body"),
    ("functions", OPEN + "    def g(self):\n        return 1\n", "f has no body"),
    ("functions", METHOD + "        raise NotImplementedError('not yet')\n", "no body"),
    ("functions", "def f():\n    pass  # implement the rest\n", "f has no body"),
    ("functions", "class A:\n    def f(self):\n        pass\n", "f has no body"),
    ("functions", "# ... rest of the code\nx = 1\n", "something is missing"),
    ("functions", "x = 1  # todo: the rest of the code\n", "something is missing"),
    ("functions", "def f():\n    # TODO: write it\n    pass\n", "f has no body"),
    ("functions", "class A:\n    def on_end(self):\n        pass  # TODO\n", "on_end has no body"),
    ("functions", "def on_end():\n    pass\n", "on_end has no body"),
    ("functions", "class A:\n    def visit(self):\n        ...\n", "visit has no body"),
    ("types", "from . import x\n\ndef f() -> int:\n    return 'a'\n", "return-value"),
    ("types", "from .. import x\n\na: int = 'a'\n", "assignment"),
]


@pytest.mark.parametrize(("aspect", "text", "told"), FOUND)
def test_what_is_a_fault_is_still_found(aspect: str, text: str, told: str) -> None:
    result = judge(text, aspect)
    assert result.outcome is Outcome.FAIL
    assert told in result.message


NEW = {
    "type Pair[T] = tuple[T, T]\n": (3, 12),
    "def first[T](a: list[T]) -> T:\n    return a[0]\n": (3, 12),
    "class Box[T]:\n    pass\n": (3, 12),
    "try:\n    f()\nexcept A, B:\n    pass\n": (3, 14),
}


@pytest.mark.parametrize("text", NEW)
@pytest.mark.parametrize("aspect", ["compiles", "bugs", "functions", "types"])
def test_text_for_a_newer_python_is_not_measured(
    text: str, aspect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    if sys.version_info[:2] >= NEW[text]:
        pytest.skip("this Python reads it")
    result = judge("x = 1\n" + text, aspect)
    assert result.outcome is Outcome.NOT_MEASURED
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert result.message.startswith(f"a.py needs a newer Python than {version}: line ")


def test_fault_beside_a_newer_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("type A[T] = B\ntype type type\n")
    (tmp_path / "b.py").write_text("def f(:\n")
    result = judge(tmp_path, "compiles")
    assert result.outcome is Outcome.FAIL
    assert "b.py: line 1: not valid Python" in f"{result.message}{result.evidence}"


@pytest.mark.long
def test_package_imports_from_itself_and_from_above(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "a.py").write_text("def f() -> int:\n    return 1\n")
    (tmp_path / "b.py").write_text("from . import a\nfrom .. import c\n\nx: str = a.f()\nc.d()\n")
    result = judge(tmp_path, "types")
    assert result.outcome is Outcome.FAIL
    assert "b.py: Incompatible types in assignment" in result.message
    assert "more" not in result.message


@pytest.mark.long
@pytest.mark.parametrize("text", ["from . import x\n", "from .a import b\nfrom .. import c\n"])
def test_what_a_package_says_of_itself_is_judged_alone(text: str) -> None:
    assert judge(text, "types", "__init__.py").outcome is Outcome.PASS
    assert judge(text + "y: int = 'a'\n", "types", "__init__.py").outcome is Outcome.FAIL
