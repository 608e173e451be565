"""What is right in configuration files of well-kept projects, each in several forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.structure.configuration import ASPECTS
from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge, problems

WEB = "services:\n  web:\n    image: a:1\n"
RUN = "jobs: {a: {runs-on: x, steps: [{run: make}]}}\n"

SECRETS = [
    (".env.example", "DB_PASSWORD=changeme\n"),
    (".env.dist", "APP_SECRET=ThisTokenIsNotSoSecretChangeIt\n"),
    (".env.sample", "DB_PASSWORD=please-change-this-1\nAPI_KEY=replace_me_4f9a8c2e\n"),
    (".env.sample", "DB_PASSWORD=secret\nAPI_KEY=your-api-key\n"),
    ("config.example.yaml", "db: {password: my-password, user: app}\n"),
    ("app.toml.dist", 'password = "password"\n'),
    (".env.example", "REDIS_PASSWORD=null\n"),
    (".env.example", "REDIS_PASSWORD=none\nURL=redis://user:password@host/0\n"),
    (".env", "REDIS_PASSWORD=null\nA_PASSWORD=\n"),
    ("compose.yaml", WEB + '    environment: {MYSQL_ALLOW_EMPTY_PASSWORD: "yes"}\n'),
    ("compose.yaml", WEB + "    environment: [MYSQL_RANDOM_ROOT_PASSWORD=1]\n"),
    ("a.yaml", "require_password: always\nshow_password: toggle\n"),
    ("a.yaml", "password: op://shop/db/password\n"),
    ("a.yaml", "secret: arn:aws:secretsmanager:eu-west-1:1:secret:db\n"),
    ("a.yaml", "password: vault:secret/data/db#password\napi_key: ref+awsssm://shop/key\n"),
    ("a.yaml", "password: projects/1/secrets/db/versions/3\nsecret: aws-sm://shop/db\n"),
    ("a.yaml", "password: process.env.DB_PASSWORD\napi_key: SHOP_API_KEY\n"),
    ("a.yaml", "password: ENC[AES256_GCM,data:p67=,iv:Y=,tag:A=,type:str]\nsops: {version: 3}\n"),
    ("a.yaml", "a: b\nsops:\n  mac: 8Fh2Ls93kQpZ7xVb1NcM5tYr0WuEaJdG4iOo6XlKs=\n"),
    ("a.yaml", "password: '{cipher}8f3kd92kd02kf83j'\nsecret: ENC(8f3kd92kd02kf83j)\n"),
    ("a.yaml", "password: |\n  $ANSIBLE_VAULT;1.1;AES256\n  6238\n"),
    ("a.yaml", "auth: {existingSecret: shop-auth}\n"),
    ("a.yaml", "secretName: shop-auth\nimagePullSecrets: [regcred]\nexternalSecret: shop\n"),
    ("a.yaml", "password_hint: the usual\n"),
    ("a.yaml", "api_key_header: X-Key\nsecret_backend: kubernetes\npassword_field: '#pw'\n"),
    ("en.json", '{"forgot_password": "Forgot your password?", "password": "Password"}'),
    ("messages.de.yaml", "password: Passwort\nnew_password: Neues Passwort\n"),
    ("a.json", '{"forgot_password": "Forgot your password?"}'),
    ("package.json", '{"name": "a", "gitHead": "2bd066f1c0dd2ea38fb3b2b5c0e43a5ea7a4ed57"}'),
    ("package.json", '{"dependencies": {"pbkdf2-password": "1.2.1", "api-key": "^3.4.5"}}'),
    ("a.json", '{"bin": "' + "3f8a1c9b7d2e6f40" * 4 + '"}'),
    ("package-lock.json", '{"x": "8Fh2Ls93kQpZ7xVb1NcM5tYr0WuEaJdG4iOo6XlKs"}'),
    ("a.yaml", "password: string\nsecret: '********'\ntoken_url: x\n"),
    ("a.toml", '[project.entry-points.auth]\nshared-password = "hub.auth.shared:Shared"\n'),
    ("a.toml", '[project.scripts]\nget-password = "tool.cli:main"\nnew-secret = "tool:new"\n'),
    ("a.toml", '[tool.poetry.plugins.auth]\nsecret = "tool.auth:Secret [extra]"\n'),
    ("ci.yml", "on: push\nenv: {URL: 'postgres://app:hunter2x@localhost:5432/a'}\n" + RUN),
    ("ci.yml", "on: push\nenv: {URL: 'mysql://root:hunter2x@127.0.0.1/a'}\n" + RUN),
    ("ci.yml", "on: push\nenv: {URL: 'redis://app:hunter2x@cache:6379'}\n" + RUN),
    ("compose.test.yaml", WEB + "    environment: {URL: 'postgres://app:hunter2x@db/a'}\n"),
    ("a.yaml", "valueFrom: {secretKeyRef: {name: db, key: password}}\n"),
]


@pytest.mark.parametrize(("name", "text"), SECRETS)
def test_what_only_speaks_of_secrets_is_none(name: str, text: str) -> None:
    result = judge(text, {"configuration": "secrets"}, name)
    assert (result.outcome, result.evidence) == (Outcome.PASS, "")


ADDRESSES = [
    ("compose.yaml", WEB + "    environment: {URL: 'postgres://app:hunter2x@db/a'}\n"),
    ("ci.yml", "on: push\nenv: {URL: 'postgres://app:hunter2x@db.example.org/a'}\n" + RUN),
    ("app.toml", "url = 'postgres://app:hunter2x@localhost/a'\n"),
    ("a.toml", '[project.entry-points.auth]\nshared-password = "hunter2x"\n'),
]


@pytest.mark.parametrize(("name", "text"), ADDRESSES)
def test_secret_that_lives_longer_than_a_test_is_found(name: str, text: str) -> None:
    assert judge(text, {"configuration": "secrets"}, name).outcome is Outcome.FAIL


@pytest.mark.parametrize("value", ["<title>", "TODO: what you saw", "your-name"])
def test_form_for_an_issue_is_filled_in_by_others(value: str, tmp_path: Path) -> None:
    text, params = f"name: Bug\ntitle: '{value}'\n", {"configuration": "required"}
    forms = tmp_path / ".github" / "ISSUE_TEMPLATE"
    assert judge(text, params, "bug.yml", forms).outcome is Outcome.PASS
    assert judge(text, params, "bug.yml", tmp_path).outcome is Outcome.FAIL


def test_folder_of_translations_holds_texts() -> None:
    text, params = "password: kennwort1\n", {"configuration": "secrets"}
    assert judge(text, params, "a.yaml", Path("app/locales/de")).outcome is Outcome.PASS
    assert judge(text, params, "a.yaml", Path("app/settings")).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("name", "is_of_texts"),
    [
        *(("de.yaml", True), ("pt-BR.yaml", True), ("active.de.yaml", True)),
        *(("messages_de.yaml", True), ("translation-fr.yaml", True), ("strings.yaml", True)),
        *(("release-it.yaml", False), ("client_id.yaml", False), ("is-no.yaml", False)),
        *(("translation-service.yaml", False), ("messages-broker.yaml", False)),
    ],
)
def test_a_name_of_a_language_alone_makes_no_texts(name: str, is_of_texts: bool) -> None:
    result = judge("password: kennwort1\n", {"configuration": "secrets"}, name)
    assert (result.outcome is Outcome.PASS) == is_of_texts


def test_texts_of_one_language_lie_below_its_name() -> None:
    params = {"configuration": "secrets"}
    assert judge("de: {password: kennwort1}\n", params, "a.yaml").outcome is Outcome.PASS
    assert judge("id: kennwort1\npassword: kennwort1\n", params).outcome is Outcome.FAIL


REQUIRED = [
    ("database.yml", 'pool: <%= ENV.fetch("N") { 5 } %>\nhost: <%= ENV["H"] %>\n'),
    ("a.toml", '[a]\nstart-after = "<!-- teaser-begin -->"\nend = "<br>"\n'),
    ("a.yaml", "repos:\n- id: todo\n- id: fixme\n"),
    ("a.yaml", "notes: [TODO, FIXME]\nlabel: TODO\n"),
    ("a.toml", "exclude_also = ['if TYPE', 'TODO: test this line']\n"),
    ("a.toml", "partial_branches = ['TODO: test this branch']\n"),
    ("a.yaml", "forbidden-patterns: ['TODO: .*', 'FIXME']\n"),
    ("a.cfg", "[x]\nnotes = FIXME,XXX,TODO\n"),
    ("a.yaml", "cart: Your cart\nmore: your orders of the week\n"),
    ("en.yaml", "a: Change it\nb: your-name\n"),
    ("a.yaml", 'more: "..."\nrest: "…"\n'),
    ("ci.yml", "on: {push: {branches: main}}\n" + RUN),
    ("ci.yml", "on: {pull_request: {types: opened, paths: src/**}}\n" + RUN),
    ("ci.yml", "on: push\nenv: {FLAGS: }\n" + RUN),
    ("ci.yml", "on: {workflow_dispatch: {inputs: {why: }}}\n" + RUN),
    ("ci.yml", "on: push\njobs: {a: {runs-on: x, steps: [{uses: a/b@v1, with: {c: }}]}}\n"),
    ("ci.yml", "on: push\njobs: {a: {runs-on: x, strategy: '${{ fromJson(x) }}'}}\n"),
    (
        "ci.yml",
        "on: push\njobs: {a: {runs-on: x, services: '${{ fromJson(x) }}', steps: [{run: b}]}}\n",
    ),
    ("ci.yml", "on: push\njobs: {a: {runs-on: x, timeout-minutes: '${{ inputs.t }}'}}\n"),
    ("compose.yaml", WEB + "    mem_limit: ${M}\n    privileged: ${P}\n"),
    ("gateway.yaml", "services:\n  web: {image: a, cors: x}\ncors: [a]\n"),
    ("kong.yaml", "services:\n- {name: a, url: http://b}\nplugins: []\n"),
    ("a.yaml", "services: {a: {ports: [1]}}\nroutes: {}\n"),
]


@pytest.mark.parametrize(("name", "text"), REQUIRED)
def test_what_is_filled_in_and_known_lacks_nothing(name: str, text: str) -> None:
    result = judge(text, {"configuration": "required"}, name)
    assert (result.outcome, result.evidence) == (Outcome.PASS, "")


@pytest.mark.parametrize(
    "value",
    ["TODO", "TODO: the host", "CHANGE ME", "changeme", "<your host>", "your-api-key", "xxxx"],
)
def test_value_to_be_filled_in_is_still_found(value: str) -> None:
    result = judge(f"a: '{value}'\n", {"configuration": "required"}, "a.yaml")
    assert result.message == f"a is still a placeholder: {value!r}"


@pytest.mark.parametrize(
    "text",
    [
        "on: {push: {branches: {a: b}}}\n" + RUN,
        "on: push\nenv: [a]\n" + RUN,
        "on: push\njobs: {a: {runs-on: x, strategy: fast, steps: [{run: make}]}}\n",
        "on: push\njobs: {a: {runs-on: x, stepz: [{run: make}]}}\n",
    ],
)
def test_workflow_that_no_runner_takes_still_fails(text: str) -> None:
    assert judge(text, {"configuration": "required"}, "ci.yml").outcome is Outcome.FAIL


SYNTAX = [
    (".vscode/launch.json", '{\n  // one\n  "a": 1,\n}\n', "JSON with comments"),
    ("tsconfig.json", '{ /* one */ "a": "// two", }\n', "JSON with comments"),
    ("tsconfig.build.json", '// one\n{"a": [1, 2,]}\n', "JSON with comments"),
    ("settings.jsonc", '{"a": 1 // one\n}\n', "JSON with comments"),
    ("artifact.md", '{\n  // one\n  "a": 1\n}\n', "JSON with comments"),
    (".editorconfig", "root = true\n\n[*]\nindent_style = space\n", "INI"),
    ("artifact.md", "root = true\n\n[*.{js,ts}]\nindent_size = 2\n", "INI"),
    (".npmrc", "save-exact=true\nfund=false\n", "INI"),
    ("shop.service", "[Unit]\nAfter=a\nAfter=b\n", "INI"),
    ("a.timer", "[Timer]\nOnCalendar=Mon\nOnCalendar=Tue\n[Install]\nA=b\n", "INI"),
    (".gitmodules", '[submodule "a"]\n  path = a\n[submodule "b"]\n  path = b\n', "INI"),
    ("artifact.md", "[Service]\nEnvironment=A=1\nEnvironment=B=2\n", "INI"),
]


@pytest.mark.parametrize(("name", "text", "read_as"), SYNTAX)
def test_file_is_read_as_its_tool_reads_it(name: str, text: str, read_as: str) -> None:
    result = judge(text, {"configuration": "syntax"}, name)
    assert (result.outcome, result.message) == (Outcome.PASS, f"reads as {read_as}")


def test_setting_of_a_key_that_repeats_is_looked_at_each_time() -> None:
    text = "[Service]\nEnvironment=A=1\nEnvironment=/home/ann/x\n"
    assert judge(text, {"configuration": "portability"}, "a.service").outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "text", ['{"a": 1} /* b', '{"a": 1} /*/', '{"a": "b // c}', '{"a" 1} // b']
)
def test_json_with_comments_has_its_faults_too(text: str) -> None:
    assert judge(text, {"configuration": "syntax"}, "tsconfig.json").outcome is Outcome.FAIL


@pytest.mark.parametrize(("name", "text"), [("a.json", '{"a": 1,}'), ("artifact.md", '{"a": 1,}')])
def test_json_of_other_tools_has_no_last_comma(name: str, text: str) -> None:
    assert judge(text, {"configuration": "syntax"}, name).outcome is Outcome.FAIL


@pytest.mark.parametrize("name", ["main.tf", "prod.tfvars", "artifact.md", "a.hcl"])
@pytest.mark.parametrize("aspect", ASPECTS)
def test_format_that_is_not_read_is_not_measured(name: str, aspect: str) -> None:
    text = 'resource "a" "b" {\n  password = "x"\n}\n'
    result = judge(text, {"configuration": aspect}, name)
    assert result.outcome is Outcome.NOT_MEASURED
    assert "HCL (Terraform and the like), which is not read" in result.message


@pytest.mark.parametrize(
    ("name", "text"), [("nginx.conf", "a {\n b c;\n}\n"), ("a.rb", "puts 1\n")]
)
def test_unknown_format_is_not_measured(name: str, text: str) -> None:
    result = judge(text, {"configuration": "syntax"}, name)
    assert result.outcome is Outcome.NOT_MEASURED
    assert "in no format that is read" in result.message


BROKEN = [("a.json", '{"a": 1,, }'), ("a.yaml", "a: 1\na: 2\n"), (".env", "A B=1\n")]


@pytest.mark.parametrize(("name", "text"), BROKEN)
@pytest.mark.parametrize("aspect", sorted(set(ASPECTS) - {"syntax"}))
def test_file_that_cannot_be_read_fails_one_aspect_alone(name: str, text: str, aspect: str) -> None:
    assert judge(text, {"configuration": "syntax"}, name).outcome is Outcome.FAIL
    result = judge(text, {"configuration": aspect}, name)
    assert result.outcome is Outcome.NOT_MEASURED
    assert result.message.startswith("not valid as ")
    assert result.location


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [("auto", Outcome.FAIL), ("plain", Outcome.PASS), ("compose", Outcome.FAIL)],
)
def test_author_says_what_a_file_is(kind: str, outcome: Outcome) -> None:
    params: dict[str, Any] = {"configuration": "required", "kind": kind}
    result = judge("services: {web: {image: a, cors: x}}\n", params, "a.yaml")
    assert result.outcome is outcome
    assert ("(read as a Compose file)" in result.message) is (outcome is Outcome.FAIL)
    assert "one of auto, plain" in problems({**params, "kind": "nginx"})[0].message


@pytest.mark.parametrize("kind", ["compose", "workflow"])
@pytest.mark.parametrize("text", ["- a\n- b\n", "- a\n---\njobs: {}\n", "[{services: {}}]\n"])
def test_list_is_no_file_of_a_kind(kind: str, text: str) -> None:
    for aspect in sorted(set(ASPECTS) - {"syntax"}):
        result = judge(text, {"configuration": aspect, "kind": kind}, "a.yaml")
        wanted = Outcome.FAIL if aspect == "required" else Outcome.NOT_MEASURED
        assert result.outcome is wanted


@pytest.mark.parametrize("needs", ["3", "{b: 1}", "[b]", "true"])
def test_need_of_a_job_that_is_no_name_is_found(needs: str) -> None:
    text = f"on: push\njobs: {{a: {{runs-on: x, needs: {needs}, steps: [{{run: make}}]}}}}\n"
    assert judge(text, {"configuration": "required"}, "ci.yml").outcome is Outcome.FAIL


WARNED = [
    ("defaults", "a.toml", 'labels = ["update"]\n[a]\nb = 1\n'),
    ("defaults", "a.yaml", "hooks:\n- id: x\n  args: [tests, --fix]\n"),
    ("defaults", "a.yaml", "a: \"\"\nb: ''\n"),
    ("defaults", ".env", 'A=""\n'),
    ("defaults", "a.json", '{"a": "", "b": null, "c": [""]}'),
    ("defaults", ".env.example", "APP_KEY=\n"),
    ("defaults", "compose.override.yaml", WEB),
    ("defaults", "compose.dev.yaml", "services:\n  web:\n    ports: ['80:80']\n"),
    ("permissions", "ci.yml", "on: {workflow_call: }\n" + RUN),
    ("permissions", "ci.yml", "on: workflow_call\n" + RUN),
    ("permissions", "ci.yml", "on: [workflow_call]\n" + RUN),
]


@pytest.mark.parametrize(("aspect", "name", "text"), WARNED)
def test_what_is_stated_or_said_elsewhere_is_no_warning(aspect: str, name: str, text: str) -> None:
    result = judge(text, {"configuration": aspect}, name)
    assert (result.outcome, result.evidence) == (Outcome.PASS, "")


def test_workflow_that_is_also_called_says_its_permissions() -> None:
    text = "on: [workflow_call, push]\n" + RUN
    assert judge(text, {"configuration": "permissions"}, "ci.yml").outcome is Outcome.FAIL


def test_env_file_beside_a_compose_file_defines_its_variables(tmp_path: Path) -> None:
    text = "services:\n  web:\n    image: 'a:$TAG'\n    command: ${A} ${B}\n"
    params = {"configuration": "variables"}
    (tmp_path / ".env").write_text("# words\nTAG=1\nexport A=2\n")
    result = judge(text, params, "compose.yaml", tmp_path)
    assert result.message == "the variable B has no default and no comment that names it"
    (tmp_path / ".env").write_text("TAG=1\nA=2\nB=3\n")
    assert judge(text, params, "compose.yaml", tmp_path).outcome is Outcome.PASS
