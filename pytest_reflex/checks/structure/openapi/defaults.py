"""Whether the defaults of an API fit their schemas, and from 3.1 on its schemas their dialect.

Promises: nothing is fetched, no pattern of the document is run. What can be seen at once (a number
where one is wanted) is not given to the library; one validator serves the whole document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, cast
from urllib.parse import quote

from pytest_reflex.checks.structure.openapi.document import ApiNode, Pointer
from pytest_reflex.contracts.validate import pointer

Fault = tuple[str, Pointer]

_URI = "urn:pytest-reflex:api"
_PLAIN = frozenset(
    (
        *("type", "enum", "description", "title", "example", "examples", "default", "nullable"),
        *("deprecated", "readOnly", "writeOnly", "externalDocs", "xml", "items", "properties"),
        *("minimum", "maximum", "minLength", "maxLength", "pattern"),
    )
)
"""What a schema may say where a default is looked at without the library."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_IN_BOUNDS = {
    "minimum": lambda value, bound: value >= bound,
    "maximum": lambda value, bound: value <= bound,
    "minLength": lambda value, bound: len(value) >= bound,
    "maxLength": lambda value, bound: len(value) <= bound,
}


class Defaults:
    """The schemas of one document, by its version of OpenAPI (3.0, 3.1, 3.2)."""

    def __init__(self, document: Any, version: str) -> None:
        self._document = document
        self._version = version[:3]
        self._dialects: dict[str, Any] = {}

    def of_schema(self, schema: Any) -> Fault | None:
        """Return what makes a schema wrong by its dialect; 3.0 has it in its own schema."""
        if self._version == "3.0":
            return None
        from jsonschema.exceptions import SchemaError

        dialect = self._dialect_of(schema)
        if dialect not in self._dialects:
            self._dialects[dialect] = _class_for(dialect)
        if self._dialects[dialect] is None:
            return f"unknown dialect of JSON Schema: {dialect!r}", ()
        try:
            self._dialects[dialect].check_schema(schema, format_checker=None)
        except SchemaError as error:
            return fault_of(error)
        return None

    def of_default(self, schema: ApiNode) -> Iterator[Fault]:
        """Yield why the default of a schema does not fit it."""
        value, table = schema.table["default"], schema.table
        if (value is None and table.get("nullable") is True) or _plainly_fits(value, table):
            return
        validator = self._values({"$ref": f"{_URI}#{quote(pointer(schema.pointer), safe='/~$')}"})
        for error in validator.iter_errors(value):
            message, path = fault_of(error)
            yield f"the default does not fit: {message}", path

    def _dialect_of(self, schema: Any) -> str:
        from openapi_schema_validator import OAS31_BASE_DIALECT_ID, OAS32_BASE_DIALECT_ID

        base = OAS31_BASE_DIALECT_ID if self._version == "3.1" else OAS32_BASE_DIALECT_ID
        default = self._document.get("jsonSchemaDialect", base)
        return str(schema.get("$schema", default) if isinstance(schema, dict) else default)

    @cached_property
    def _values(self) -> Any:
        """Return what makes a validator of a schema, references into the document followed."""
        from functools import partial

        import openapi_schema_validator as library
        from jsonschema.validators import extend
        from referencing import Registry
        from referencing.jsonschema import DRAFT4, DRAFT202012

        number = self._version.replace(".", "")
        kind = getattr(library, f"OAS{number}Validator")
        rules = DRAFT4 if number == "30" else DRAFT202012
        resource = rules.create_resource(self._document)
        others = dict(kind.VALIDATORS)

        def properties(validator: Any, bound: Any, value: Any, schema: Any) -> Any:
            known = "patternProperties" not in schema
            return others["additionalProperties"](validator, bound, value, schema) if known else ()

        quiet = dict.fromkeys(("pattern", "patternProperties", "unevaluatedProperties"), _nothing)
        return partial(
            cast("Any", extend)(kind, {**quiet, "additionalProperties": properties}),
            registry=Registry().with_resource(_URI, resource),
            format_checker=getattr(library, f"oas{number}_format_checker"),
        )


def _class_for(dialect: str) -> Any:
    from jsonschema.validators import validator_for

    return validator_for({"$schema": dialect}, default=cast("Any", None))


def fault_of(error: Any) -> Fault:
    """Return the message and the place of an error of the library.

    Of a choice that nothing fits, the nearest problem says more than the choice; what has no `$ref`
    is not meant as a reference.
    """
    while error.context:
        own = [e for e in error.context if not _wants_reference(e)] or error.context
        error = max(own, key=_nearness)
    message = str(error.message)
    shown = repr(error.instance) if isinstance(error.instance, dict | list) else ""
    message = message.replace(shown, "it") if len(shown) > 60 else message
    return message, tuple(error.absolute_path)


def _wants_reference(error: Any) -> bool:
    return bool(error.validator == "required" and error.validator_value == ["$ref"])


def _nearness(error: Any) -> tuple[int, bool, bool]:
    return len(error.absolute_path), error.validator == "required", error.validator != "type"


def _nothing(*_: Any) -> tuple[()]:
    return ()


def _plainly_fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Return whether a value fits a schema that says no more than a type, choices and bounds."""
    kind = schema.get("type")
    # The format of a number is its size.
    known = {*_PLAIN, "format"} if kind in ("integer", "number") else _PLAIN
    if not all(key in known or key.startswith("x-") for key in schema):
        return False
    if not isinstance(kind, str) or not isinstance(value, _TYPES.get(kind, ())):
        return False
    if isinstance(value, bool) is not (kind == "boolean"):
        return False
    if isinstance(value, list | dict) and value:
        return False  # what is in it has schemas of its own
    choices = schema.get("enum")
    if choices is not None and value not in choices:
        return False
    try:
        return all(_IN_BOUNDS[key](value, schema[key]) for key in _IN_BOUNDS if key in schema)
    except TypeError:
        return False
