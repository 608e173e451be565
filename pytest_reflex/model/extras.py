"""The extras: which parts each brings, whether they are here, and how they are installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """One extra: its `parts` as modules with the names of their distributions.

    `without` says what is not there, or is done in another way, where a part is missing.
    """

    name: str
    parts: Mapping[str, str]
    without: str

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"pip install 'pytest-reflex[{self.name}]'"

    def broken_distributions(self) -> tuple[str, ...]:
        """Return the distributions of which nothing can be imported."""
        return tuple(name for module, name in self.parts.items() if not _imports(module))


EXTRAS = (
    Extra(
        name="code",
        parts={"ast_grep_py": "ast-grep-py", "mypy": "mypy", "ruff": "ruff"},
        without="rules of the template code, and patterns over syntax trees, are not measured",
    ),
    Extra(
        name="config",
        parts={"check_jsonschema": "check-jsonschema", "dotenv": "python-dotenv"},
        without="Compose files, GitHub workflows and .env files are not measured",
    ),
    Extra(
        name="openapi",
        parts={"openapi_spec_validator": "openapi-spec-validator"},
        without="whether an OpenAPI document is valid is not measured",
    ),
    Extra(
        name="parallel",
        parts={"xdist": "pytest-xdist"},
        without="pytest -n is not there",
    ),
    Extra(
        name="re2",
        parts={"re2": "google-re2"},
        without="searches that could run away are tried in a process that can be killed",
    ),
    Extra(
        name="secrets",
        parts={"detect_secrets": "detect-secrets"},
        without="hard-coded secrets are not measured",
    ),
    Extra(
        name="ui",
        parts={"rich": "rich"},
        without="a loop shows plain lines in place of a live view",
    ),
)


def install_hint(module: str) -> str:
    """Return what to install where a part of an extra is not here; empty where it is."""
    try:
        if find_spec(module) is not None:
            return ""
    except (ImportError, ValueError):
        pass  # something keeps it from being found
    extra = next(extra for extra in EXTRAS if module in extra.parts)
    return f"{extra.parts[module]} is not installed: {extra.install}"


def distribution_of(module: str) -> str:
    """Return the name by which a part of an extra is installed."""
    return next(extra.parts[module] for extra in EXTRAS if module in extra.parts)


def install(distribution: str) -> str:
    """Return the command that installs what a part of an extra is."""
    extra = next((e for e in EXTRAS if distribution in e.parts.values()), None)
    return extra.install if extra else f"pip install {distribution}"


def _imports(module: str) -> bool:
    try:
        import_module(module)
    except Exception:  # a part that is broken may raise anything
        return False
    return True
