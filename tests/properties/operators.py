"""What can be planted into the documents of each stock template."""

from __future__ import annotations

from collections.abc import Iterator

from tests.properties.defects import Operator
from tests.properties.defects_of_apis import IN_APIS, IN_CODE
from tests.properties.defects_of_markdown import IN_MARKDOWN
from tests.properties.defects_of_settings import IN_SETTINGS


def everything(text: str) -> Iterator[str]:
    yield ""
    yield " \n"


EMPTY = Operator("a.correctness.artifact-non-empty", "nothing", everything)
OPERATORS: dict[str, tuple[Operator, ...]] = {
    "configuration": IN_SETTINGS,
    "api-spec": IN_APIS,
    "code": IN_CODE,
}


def operators_for(template: str, rules: frozenset[str]) -> list[Operator]:
    """Return what can be planted into documents of a template that has these rules."""
    own = OPERATORS.get(template, IN_MARKDOWN)
    return [EMPTY, *(operator for operator in own if operator.rule in rules)]
