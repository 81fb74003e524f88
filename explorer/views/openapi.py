"""The description of the API in OpenAPI 3.1, from the routes and the types that the views declare."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

import msgspec
from flask import Flask
from werkzeug.routing import Rule

from explorer.documents import API, Problem
from explorer.views.caller import PRIORITY
from explorer.views.operation import Operation, operation_of

_REFERENCES = "#/components/schemas/{name}"
_ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")
_QUERY_TYPES = {int: "integer", bool: "boolean", str: "string"}


def describe_api() -> dict[str, Any]:
    """Describe the API of an application that has no services, for tools that read the description."""
    from explorer.views import register_views

    app = Flask("explorer", static_folder=None)
    register_views(app)
    return describe(app)


def describe(app: Flask) -> dict[str, Any]:
    """Describe all routes below the address of the API."""
    rules = sorted(
        (rule for rule in app.url_map.iter_rules() if rule.rule.startswith(API)),
        key=lambda rule: (rule.rule, sorted(rule.methods or ())),
    )
    operations = [_operation(app, rule) for rule in rules]
    types = _types(operations)
    schemas, components = msgspec.json.schema_components(types, ref_template=_REFERENCES)
    schema_of = {_key(wanted): schema for wanted, schema in zip(types, schemas, strict=True)}
    _require_what_answers_have(components, operations, schema_of)
    paths: dict[str, dict[str, Any]] = {}
    for rule, operation in zip(rules, operations, strict=True):
        description = _describe(app, rule, operation, schema_of)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            paths.setdefault(_ARGUMENT.sub(r"{\1}", rule.rule), {})[method.lower()] = description
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "triton-explorer",
            "version": version("triton-explorer"),
            "description": "See everything the Triton compiler does to a kernel, from Python to SASS.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(app: Flask, rule: Rule) -> Operation:
    operation = operation_of(app.view_functions[rule.endpoint])
    assert operation is not None, f"{rule.endpoint} does not declare what it returns"
    return operation


def _key(wanted: Any) -> str:
    return repr(wanted)


def _types(operations: list[Operation]) -> list[Any]:
    """Return each type that an operation takes or returns, once."""
    types: dict[str, Any] = {_key(Problem): Problem}
    for operation in operations:
        for answer in (operation.body, *operation.answers.values()):
            for wanted in answer if isinstance(answer, tuple) else (answer,):
                if wanted is not None and not isinstance(wanted, str):
                    types[_key(wanted)] = wanted
    return list(types.values())


def _require_what_answers_have(
    components: dict[str, Any], operations: list[Operation], schema_of: dict[str, Any]
) -> None:
    """Mark all fields of `components` as required, except of those in requests: answers are complete."""
    bodies = [schema_of[_key(each.body)] for each in operations if isinstance(each.body, type)]
    taken = _references_of(bodies, components)
    for name, schema in components.items():
        if name not in taken and "properties" in schema:
            schema["required"] = list(schema["properties"])


def _references_of(schemas: list[Any], components: dict[str, Any]) -> set[str]:
    """Return the names of the components that `schemas` refer to, directly or not."""
    found: set[str] = set()
    waiting = list(schemas)
    while waiting:
        match waiting.pop():
            case {"$ref": str(reference)}:
                name = reference.rpartition("/")[2]
                if name not in found:
                    found.add(name)
                    waiting.append(components[name])
            case dict() as schema:
                waiting.extend(schema.values())
            case list() as several:
                waiting.extend(several)
    return found


def _describe(app: Flask, rule: Rule, operation: Operation, schema_of: dict[str, Any]) -> dict[str, Any]:
    documentation = (app.view_functions[rule.endpoint].__doc__ or "").strip()
    summary, _, description = documentation.partition("\n\n")
    described: dict[str, Any] = {
        "operationId": rule.endpoint.replace(".", "_"),
        "summary": summary,
        "parameters": _parameters(rule, operation),
        "responses": {
            str(status): _response(answer, schema_of) for status, answer in operation.answers.items()
        },
    }
    described["responses"]["default"] = _response(Problem, schema_of)
    if description:
        described["description"] = " ".join(description.split())
    if isinstance(operation.body, str):
        described["requestBody"] = {"required": True, "content": {operation.body: {"schema": {}}}}
    elif operation.body is not None:
        content = {"application/json": {"schema": schema_of[_key(operation.body)]}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _parameters(rule: Rule, operation: Operation) -> list[dict[str, Any]]:
    in_path = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer" if f"<int:{name}>" in rule.rule else "string"},
        }
        for name in _ARGUMENT.findall(rule.rule)
    ]
    in_query = [
        {
            "name": query.name,
            "in": "query",
            "description": query.description,
            "schema": {"type": _QUERY_TYPES[query.type]},
        }
        for query in operation.query
    ]
    in_header = [{"name": "Priority", "in": "header", "description": PRIORITY, "schema": {"type": "string"}}]
    return in_path + in_query + (in_header if "POST" in (rule.methods or ()) else [])


def _response(answer: Any, schema_of: dict[str, Any]) -> dict[str, Any]:
    if answer is None:
        return {"description": "No content"}
    if answer is Problem:
        description, media_type, schema = "An error", "application/json", schema_of[_key(Problem)]
    elif answer == "text/event-stream":  # A schema would describe one event only.
        return {"description": "The events", "content": {answer: {}}}
    elif isinstance(answer, str):
        description, media_type, schema = "The text", answer, {"type": "string"}
        if not answer.startswith("text/"):
            schema["contentMediaType"] = answer
    elif isinstance(answer, tuple):
        description, media_type = "One of these documents", "application/json"
        schema = {"anyOf": [schema_of[_key(each)] for each in answer]}
    else:
        description, media_type, schema = "The document", "application/json", schema_of[_key(answer)]
    return {"description": description, "content": {media_type: {"schema": schema}}}
