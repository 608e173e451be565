"""Faults of configuration files: settings, services and jobs that are added, and broken syntax."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial

from benchmarks.rules.operators import Change, Operator, append

Setting = tuple[str, str | None]
SERVICES = re.compile(r"^services:[^\n]*\n(?:\s*(?:#.*)?\n)*( +)\S", re.MULTILINE)
JOBS = re.compile(r"^jobs:[^\n]*\n(?:\s*(?:#.*)?\n)*( +)\S", re.MULTILINE)
COMMENT = re.compile(r"^(\s*)[#;].*\n", re.MULTILINE)
SERVICE = "image: nginx:1.27\nrestart: always\n"
JOB = "runs-on: ubuntu-24.04\ntimeout-minutes: 5\npermissions: {contents: read}\n"
STEP = "steps:\n  - run: make\n"


def first_line(text: str) -> str:
    lines = (line for line in text.splitlines() if line.strip() and line.strip()[0] != "#")
    return next((line for line in lines if line.strip() != "---"), "")


def into_yaml(text: str, *settings: Setting) -> str | None:
    if not re.match(r"[\w\"'-]+:", first_line(text)):
        return None
    lines = (f"{name}:" + (f" {json.dumps(value)}" if value else "") for name, value in settings)
    return text.rstrip() + "\n" + "\n".join(lines) + "\n"


def into_json(text: str, *settings: Setting) -> str | None:
    try:
        data = json.loads(text)
    except ValueError:
        return None
    return json.dumps(dict(settings) | data, indent=2) if isinstance(data, dict) else None


def into_toml(text: str, *settings: Setting) -> str | None:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings) + text


def into_ini(text: str, *settings: Setting) -> str | None:
    return append("[added]\n" + "\n".join(f"{n} = {v or ''}".rstrip() for n, v in settings), text)


def into_env(text: str, *settings: Setting) -> str | None:
    lines = (f"{name.upper()}={value or ''}" for name, value in settings)
    return text.rstrip() + "\n" + "\n".join(lines) + "\n"


def into_block(head: re.Pattern[str], body: str, text: str) -> str | None:
    """Add a service or a job at the beginning of the others, as deep as they are."""
    found = head.search(text)
    if not found:
        return None
    indent = found.group(1)
    lines = "".join(f"{indent}  {line}\n" for line in body.splitlines())
    at = text.index("\n", found.start()) + 1
    return f"{text[:at]}{indent}added:\n{lines}{text[at:]}"


def _environment(settings: tuple[Setting, ...]) -> str:
    lines = (f"  {n.upper()}: {json.dumps(v)}" for n, v in settings)
    return "\n".join(lines) + "\n"


def into_compose(text: str, *settings: Setting) -> str | None:
    return into_block(SERVICES, f"{SERVICE}environment:\n{_environment(settings)}", text)


def into_workflow(text: str, *settings: Setting) -> str | None:
    return into_block(JOBS, f"{JOB}env:\n{_environment(settings)}{STEP}", text)


WRITERS: dict[str, Callable[..., str | None]] = {
    "yaml": into_yaml,
    "json": into_json,
    "toml": into_toml,
    "ini": into_ini,
    "env": into_env,
    "compose": into_compose,
    "workflow": into_workflow,
}
PLAIN = ("yaml", "json", "toml", "ini", "env")
BLOCKS = {"compose": SERVICES, "workflow": JOBS}


def one_more(writer: Callable[..., str | None], setting: Setting, text: str) -> str | None:
    return writer(text, setting)


def many_more(writer: Callable[..., str | None], above: str, text: str) -> str | None:
    """Add so many settings that the comments of the file are too few for them."""
    number = 25 * (2 + len(re.findall(r"^.*(?:#|;|name:).*$", text, re.MULTILINE)))
    added = writer(text, *((f"added_{n}", f"value {n}") for n in range(number)))
    return (
        re.sub(r"^( *)(?=ADDED_1\b|added_1\b)", rf"\g<1>{above}\g<1>", added, flags=re.M)
        if (added and above)
        else added
    )


def without_comments(left: str, text: str) -> str | None:
    """Take the words out of all comments; files that are short, or have others, are left alone."""
    bare = COMMENT.sub(left, text)
    steps = re.sub(r"^( +(?:- )?name:).*", r"\1 step", bare, flags=re.MULTILINE)
    short = len([line for line in steps.splitlines() if line.strip()]) < 12
    return None if short or re.search(r"\s[#;]\s*\S+\s\S", COMMENT.sub("", steps)) else steps


def twice(pattern: str, again: str, text: str) -> str | None:
    found = re.search(pattern, text, re.MULTILINE)
    return f"{text.rstrip()}\n{found.expand(again)}\n" if found else None


def open_end(text: str) -> str | None:
    return text.rstrip()[:-1] if text.rstrip().endswith("}") else None


def begin(with_what: str, text: str) -> str | None:
    return re.sub(r"\A\s*\{", lambda _: "{" + with_what, text) if text.lstrip()[:1] == "{" else None


def before(addition: str, text: str) -> str:
    return f"{addition}\n{text}"


_YAML_SYNTAX: dict[str, Change] = {
    "a key given twice": partial(twice, r"^([A-Za-z_][\w-]*):(?= |$)", r"\1: again"),
    "a bracket without its end": partial(append, "added: [1, 2"),
    "an indent that fits nothing": partial(append, "added:\n    a: 1\n  b: 2"),
    "a tab as indent": partial(append, "added:\n\ta: 1"),
}
SYNTAX: dict[str, dict[str, Change]] = {
    "yaml": _YAML_SYNTAX,
    "compose": _YAML_SYNTAX,
    "workflow": _YAML_SYNTAX,
    "json": {
        "a brace without its end": open_end,
        "a key given twice": partial(begin, '"added": 1, "added": 2,'),
        "a key in single quotes": partial(begin, "'added': 1,"),
        "a comma that is missing": partial(begin, '"added": 1 "more": 2,'),
    },
    "toml": {
        "a key given twice": partial(before, "added = 1\nadded = 2"),
        "a text without its end": partial(before, 'added = "text'),
        "a table given twice": partial(append, "[added]\na = 1\n\n[added]\nb = 2"),
        "a text without quotes": partial(before, "added = some text"),
    },
    "ini": {
        "a section given twice": partial(append, "[added]\na = 1\n\n[added]\nb = 2"),
        "a key given twice": partial(append, "[added]\na = 1\na = 2"),
        "a section without its end": partial(append, "[added\na = 1"),
        "a key that is missing": partial(append, "[added]\n= 1"),
    },
    "env": {
        "a name with a blank": partial(append, "THE NAME=a"),
        "a name given twice": partial(append, "ADDED=a\nADDED=b"),
        "a name that is missing": partial(append, "=a"),
        "a quote without its end": partial(append, "ADDED='a"),
    },
}
SETTINGS: dict[str, dict[str, Setting]] = {
    "a.correctness.required": {
        "a value to be changed": ("greeting", "changeme"),
        "a value to be written": ("added_owner", "TODO"),
        "a value in angle brackets": ("added_host", "<your host name>"),
        "a key to be filled in": ("added_id", "your-api-key"),
    },
    "a.completeness.env-vars": {
        "a variable": ("added_host", "${ADDED_NAME}"),
        "a variable in an address": ("added_url", "https://${ADDED_SITE}/list"),
        "a variable in a path": ("added_path", "/srv/${ADDED_FOLDER}/data"),
    },
    "a.security.no-secrets": {
        "a password": ("db_password", "violet-otter-58"),
        "a key under its name": ("api_key", "7d1f0c52e9ab4386b0d2"),
        "a password in an address": ("added_url", "https://app:violet58@db.example.org/app"),
        "a key by its form": ("added_note", "AKIAIOSFODNN7EXAMPLE"),
    },
    "b.quality.portability": {
        "a home of Linux": ("added_path", "/home/marta/data"),
        "a home of macOS": ("added_path", "/Users/marta/data"),
        "a home of Windows": ("added_path", r"C:\Users\marta\data"),
    },
    "b.security.permissions": {
        "a file that everybody writes": ("added_mode", "0666"),
        "a folder that everybody writes": ("folder_mode", "0777"),
        "chmod 777": ("added_command", "chmod -R 777 /srv/data"),
        "a umask of 0": ("added_start", "umask 000 && serve"),
    },
}
EMPTY: dict[str, dict[str, Change]] = {
    "yaml": {
        "a setting without a value": partial(one_more, into_yaml, ("added_host", None)),
        "a setting of a part without a value": partial(append, "added:\n  size: 1\n  host:"),
        "a setting without a value before others": partial(append, "added_host:\nadded_size: 1"),
    },
    "ini": {
        "a setting without a value": partial(one_more, into_ini, ("added_host", None)),
        "a setting without a value, with a colon": partial(append, "[added]\nsize = 1\nhost:"),
        "a setting without a value before others": partial(append, "[added]\nhost =\nsize = 1"),
    },
    "env": {
        "a setting without a value": partial(one_more, into_env, ("added_host", None)),
        "an exported name without a value": partial(append, "export ADDED_HOST="),
        "a setting without a value before others": partial(append, "ADDED_HOST=\nADDED_SIZE=1"),
    },
}
BODIES: dict[str, dict[str, dict[str, str]]] = {
    "compose": {
        "a.correctness.required": {
            "a key that is misspelt": f"{SERVICE}prots: ['80:80']",
            "a service that is not there": f"{SERVICE}depends_on: [no-such-service]",
            "a volume that is not defined": f"{SERVICE}volumes: ['no-such-volume:/data']",
            "a network that is not defined": f"{SERVICE}networks: [no-such-network]",
        },
        "a.completeness.env-vars": {
            "a variable as tag": "image: 'nginx:$ADDED_TAG'\nrestart: always",
            "an entry without a value": f"{SERVICE}environment:\n  - ADDED_NAME",
            "a variable in a command": f"{SERVICE}command: 'serve $ADDED_PORT'",
        },
        "a.security.no-secrets": {
            "a password in a list": f"{SERVICE}environment:\n  - DB_PASSWORD=violet-otter-58",
        },
        "b.quality.defaults": {
            "an image without restart": "image: nginx:1.27",
            "a build without restart": "build: ./added",
            "an image with ports, without restart": "image: nginx:1.27\nports: ['8080:80']",
        },
        "b.quality.portability": {
            "an image without a tag": "image: nginx\nrestart: always",
            "the latest image": "image: nginx:latest\nrestart: always",
            "a tag without a number": "image: redis:alpine\nrestart: always",
        },
        "b.security.permissions": {
            "a privileged container": f"{SERVICE}privileged: true",
            "a capability of root": f"{SERVICE}cap_add: [SYS_ADMIN]",
            "the socket of Docker": f"{SERVICE}volumes: ['/var/run/docker.sock:/run/d.sock']",
            "the network of the host": f"{SERVICE}network_mode: host",
        },
    },
    "workflow": {
        "a.correctness.required": {
            "a job without a machine": f"timeout-minutes: 5\n{STEP}",
            "a job that is not there": f"{JOB}needs: no-such-job\n{STEP}",
            "a key that is misspelt": f"{JOB}stepps: []\n{STEP}",
            "a step without work": f"{JOB}steps:\n  - name: Nothing is done here",
        },
        "a.completeness.env-vars": {
            "a variable of a command": f"{JOB}steps:\n  - run: 'echo ${{{{ env.ADDED_NAME }}}}'",
            "a variable of a condition": f"{JOB}steps:\n  - run: make\n"
            "    if: ${{ env.ADDED_NAME == 'yes' }}",
            "a variable of an action": f"{JOB}steps:\n  - uses: actions/checkout@v4\n"
            "    with: {ref: '${{ env.ADDED_NAME }}'}",
        },
        "b.quality.defaults": {
            "a job without an end": f"runs-on: ubuntu-24.04\npermissions: {{}}\n{STEP}",
            "a job in a container without an end": "runs-on: ubuntu-24.04\n"
            f"permissions: {{}}\ncontainer: 'debian:12'\n{STEP}",
            "a step with an end in a job without": "runs-on: ubuntu-24.04\npermissions: {}\n"
            "steps:\n  - run: make\n    timeout-minutes: 5",
        },
        "b.quality.portability": {
            "an action of a branch": f"{JOB}steps:\n  - uses: actions/checkout@main",
            "an action of another branch": f"{JOB}steps:\n  - uses: actions/setup-node@master",
            "the latest container": f"{JOB}container: 'node:latest'\n{STEP}",
            "a container without a tag": f"{JOB}container: {{image: node}}\n{STEP}",
        },
        "b.security.permissions": {
            "a token that may do everything": "runs-on: ubuntu-24.04\ntimeout-minutes: 5\n"
            f"permissions: write-all\n{STEP}",
            "chmod 777": f"{JOB}steps:\n  - run: chmod -R 777 .",
            "chmod for everybody": f"{JOB}steps:\n  - run: chmod a+rwx build",
        },
    },
}


def _operator(rule: str, format_: str, name: str, change: Change) -> Operator:
    return Operator(
        templates=("configuration",), rule=rule, formats=(format_,), name=name, change=change
    )


def _comments(format_: str) -> dict[str, Change]:
    writer = WRITERS[format_]
    changes: dict[str, Change] = {
        "settings without a comment": partial(many_more, writer, ""),
        "settings below a comment of one word": partial(many_more, writer, "# more\n"),
        "settings below one that is switched off": partial(many_more, writer, "#added: 1\n"),
    }
    if format_ not in ("env", "compose"):
        changes |= {
            "no comment at all": partial(without_comments, ""),
            "comments of one word": partial(without_comments, r"\1# text\n"),
        }
    return changes


OPERATORS = (
    *(
        _operator("a.correctness.syntax", format_, name, change)
        for format_, changes in SYNTAX.items()
        for name, change in changes.items()
    ),
    *(
        _operator(rule, format_, name, partial(into_block, BLOCKS[format_], body))
        for format_, rules in BODIES.items()
        for rule, bodies in rules.items()
        for name, body in bodies.items()
    ),
    *(
        _operator(rule, format_, name, partial(one_more, WRITERS[format_], setting))
        for rule, settings in SETTINGS.items()
        for name, setting in settings.items()
        for format_ in (*PLAIN, *(BLOCKS if rule == "a.security.no-secrets" else ()))
    ),
    *(
        _operator("b.quality.defaults", format_, name, change)
        for format_, changes in EMPTY.items()
        for name, change in changes.items()
    ),
    *(
        _operator("b.completeness.comments", format_, name, change)
        for format_ in ("yaml", "toml", "ini", "env", "compose", "workflow")
        for name, change in _comments(format_).items()
    ),
)
