"""The API's own description, OpenAPI 3.1, made of the routes and of the types that the views declare."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

import msgspec
from flask import Flask
from werkzeug.routing import Rule

from explorer.views.links import API
from explorer.views.operation import Operation, operation_of
from explorer.views.problems import Problem

_REFERENCES = "#/components/schemas/{name}"
_ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")
_QUERY_TYPES = {int: "integer", bool: "boolean", str: "string"}


def describe(app: Flask) -> dict[str, Any]:
    """Describe every route below the API's address."""
    rules = sorted(
        (rule for rule in app.url_map.iter_rules() if rule.rule.startswith(API)),
        key=lambda rule: (rule.rule, sorted(rule.methods or ())),
    )
    operations = [_operation(app, rule) for rule in rules]
    types = _types(operations)
    schemas, components = msgspec.json.schema_components(types, ref_template=_REFERENCES)
    schema_of = {_key(wanted): schema for wanted, schema in zip(types, schemas, strict=True)}
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
    assert operation is not None, f"{rule.endpoint} does not say what it answers"
    return operation


def _key(wanted: Any) -> str:
    return repr(wanted)


def _types(operations: list[Operation]) -> list[Any]:
    """Every type that an operation takes or answers, once."""
    types: dict[str, Any] = {_key(Problem): Problem}
    for operation in operations:
        for answer in (operation.body, *operation.answers.values()):
            for wanted in answer if isinstance(answer, tuple) else (answer,):
                if wanted is not None and not isinstance(wanted, str):
                    types[_key(wanted)] = wanted
    return list(types.values())


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
    if operation.body is not None:
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
    return in_path + in_query


def _response(answer: Any, schema_of: dict[str, Any]) -> dict[str, Any]:
    if answer is None:
        return {"description": "No content"}
    if answer is Problem:
        description, media_type, schema = "An error", "application/json", schema_of[_key(Problem)]
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
