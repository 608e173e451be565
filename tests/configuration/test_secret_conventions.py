"""Secrets as the conventions of many tools write them, and what those put in their place."""

from __future__ import annotations

import pytest

from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge

REFERENCES = """
    env:DB_PASSWORD keychain:db secretref:db-password conjur:db/password {env:NPM_TOKEN}
    {file:./db} #{DB_PASSWORD}# __DB_PASSWORD__ @DB_PASSWORD@ @@DB_PASSWORD@@
    $__file{/run/secrets/db} $__env{DB_PASSWORD} secrets/db_password
    pass:db/prod gopass:work/db/prod pass://Work/db/password
"""
CLOSED = """
    encrypted:BNexEwjKwt87k9aEgaSng1JY6uW8OkwMYEFTwEy SCRAM-SHA-256$4096:c2FsdA==$abc:def
    ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIB] ENC[db_password]
"""


@pytest.mark.parametrize("value", [*REFERENCES.split(), *CLOSED.split()])
@pytest.mark.parametrize(
    "text", ["password: '{}'\n", "env: [{{name: DB_PASSWORD, value: '{}'}}]\n"]
)
def test_what_a_tool_puts_in_is_no_secret(text: str, value: str) -> None:
    result = judge(text.format(value), {"configuration": "secrets"}, "a.yaml")
    assert (result.outcome, result.evidence) == (Outcome.PASS, "")


@pytest.mark.parametrize("tag", ["!Ref", "!secret", "!env_var", "!ENV", "!GetAtt"])
def test_tag_says_that_the_value_is_put_in(tag: str) -> None:
    params = {"configuration": "secrets"}
    assert judge(f"password: {tag} DbName1\n", params, "a.yaml").outcome is Outcome.PASS
    assert judge("password: !!str DbName1\n", params, "a.yaml").outcome is Outcome.FAIL
    mixed = f"{{user: {tag} a, password: hunter2plain}}\n"
    assert judge(mixed, params, "a.yaml").outcome is Outcome.FAIL


RIGHT = [
    ("values.yaml", "pullSecret: regcred\ntls: {tokenSecret: shop-token}\n"),
    ("values.yaml", "userPasswordSecret: shop-auth\ncredentialsSecret: shop-gcp\n"),
    (".travis.yml", "deploy: {api_key: {secure: 'mcUCykGm4bUZ3CaW6AxrIMFzuAYjA98VIz6YmYTmM0='}}\n"),
    (".env.example", 'AWS_ACCESS_KEY_ID="AKIAIOSFODNN7EXAMPLE"\n'),
    (".env.example", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n"),
    ("sample.env", "DB_PASSWORD=changeme\n"),
    (".env.defaults", "DB_PASSWORD=changeme\n"),
    (".env.example", "DB_PASSWORD=generate-with-openssl-rand\nAPP_SECRET=run_me_first\n"),
    ("a.yaml", "pass: Passed\nbearer: the one who carries\nresult: {pass: 12000}\n"),
    ("a.json", '{"url": "Server=db;User Id=sa;Password=${DB_PASSWORD};"}'),
    ("a.json", '{"url": "Server=db;Integrated Security=true;"}'),
    ("a.yaml", "dsn: host=db user=shop password=$DB_PASSWORD dbname=shop\n"),
    ("a.yaml", "help: Set Password=... in the file; or ask\n"),
]


@pytest.mark.parametrize(("name", "text"), RIGHT)
def test_what_well_kept_files_hold_is_no_secret(name: str, text: str) -> None:
    result = judge(text, {"configuration": "secrets"}, name)
    assert (result.outcome, result.evidence) == (Outcome.PASS, "")


WRONG = [
    ("a.json", '{"Default": "Server=db;User Id=sa;Password=hunter2plain;"}'),
    ("a.yaml", "dsn: host=db user=shop password=hunter2plain dbname=shop\n"),
    ("web.ini", "[db]\nurl = Data Source=db.example.org;Initial Catalog=a;Pwd=hunter2plain\n"),
    ("a.yaml", "db: {user: shop, pass: hunter2plain}\n"),
    ("a.toml", 'pw = "hunter2plain"\n'),
    (".env", "ROOTPW=hunter2plain\nDB_PW=hunter2plain\n"),
    ("a.yaml", "kennwort: hunter2plain\n"),
    ("a.yaml", "senha: hunter2plain\n"),
    ("a.yaml", "password: 'ENC[ hunter2plain'\n"),
    ("a.yaml", "password: pass:hunter2plain\n"),
    ("a.yaml", "token_secret: 8f3kd92kd02kf83j\n"),
    ("a.yaml", "clientSecret: shop-auth\n"),
    ("sample.env", "DB_PASSWORD=hX83jsk9!dk2pQz7\n"),
    ("sample.yaml", "password: wordpress\n"),
    (".env", 'AWS_ACCESS_KEY_ID="AKIAIOSFODNN7EXAMPLE"\n'),
]


@pytest.mark.parametrize(("name", "text"), WRONG)
def test_secret_is_found_under_other_names_too(name: str, text: str) -> None:
    result = judge(text, {"configuration": "secrets"}, name)
    assert result.outcome is Outcome.FAIL
    assert "hunter2" not in result.message
