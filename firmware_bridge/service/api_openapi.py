"""The OpenAPI document, made from the same table of routes that the server is made from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from firmware_bridge.service.api_operation import Operation
from firmware_bridge.service.api_repeats import MAX_KEY

_JSON = "application/json"


def document(operations: Iterable[Operation], version: str) -> dict[str, Any]:
    """An OpenAPI 3.1 document with one entry for each operation."""
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        path = re.sub(r"\{(\w+)(?::\w+)?\}", r"{\1}", one.path)
        paths.setdefault(path, {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Firmware Bridge",
            "version": version,
            "description": "Results, desk and dealing of one evening. Tokens go into the Authorization header.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "desk": {"type": "http", "scheme": "bearer", "description": "director, assistant or viewer code"},
                "table": {"type": "http", "scheme": "bearer", "description": "token of one table"},
            },
            "schemas": {
                "Error": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {
                        "error": {
                            "type": "object",
                            "required": ["code", "what", "where", "next"],
                            "properties": {name: {"type": "string"} for name in ("code", "what", "where", "next")},
                        }
                    },
                }
            },
        },
    }


def _operation(one: Operation) -> dict[str, Any]:
    answer = one.answer or _JSON
    errors: dict[str, Any] = {
        "404": _error("There is no such thing, or it may not be seen now."),
        "429": _error("Too many wrong tokens; wait."),
        "503": _error("The store can't be used at the moment."),
    }
    if one.role:
        errors["409"] = _error("It can't be done as things stand; `what` and `next` say why and what to do.")
        errors["401"] = _error("No token, or one that is not known.")
        errors["403"] = _error("The token is good, but not for this.")
    if one.fields is not None or "{" in one.path or one.query:
        errors["400"] = _error("A value is missing or can't be.")
        errors["409"] = _error("It can't be done as things stand; `what` and `next` say why and what to do.")
    if one.fields is not None:
        errors["413"] = _error("The body is too long.")
        errors["415"] = _error("The body is not what is wanted here.")
    found: dict[str, Any] = {
        "summary": one.words,
        "operationId": re.sub(r"\W+", "_", f"{one.method.lower()}{one.path}").strip("_"),
        "responses": {"200": {"description": "Done.", "content": {answer: {"schema": {}}}}, **errors},
    }
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)", one.path)
    ]
    parameters += [
        {"name": name, "in": "query", "required": False, "description": words, "schema": {"type": "string"}}
        for name, words in one.query.items()
    ]
    if answer == "text/event-stream":
        parameters.append({"name": "Last-Event-ID", "in": "header", "required": False, "schema": {"type": "string"}})
    if one.fields is not None and one.takes == _JSON and not one.answer:
        words = "A key of this act: asked for again with it because the answer was lost, it is done once."
        schema = {"type": "string", "minLength": 1, "maxLength": MAX_KEY}
        key = {"name": "Idempotency-Key", "in": "header", "required": False, "description": words, "schema": schema}
        parameters.append(key)
    if parameters:
        found["parameters"] = parameters
    if one.role:
        found["security"] = [{"table" if one.role in ("table", "late") else "desk": []}]
        found["description"] = f"Least role: {one.role}."
    if one.fields is not None:
        found["requestBody"] = {"required": True, "content": {one.takes: {"schema": _body(one)}}}
    return found


def _body(one: Operation) -> dict[str, Any]:
    if one.takes != _JSON:
        return {"type": "string", "format": "binary"}
    fields = one.fields or {}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name.rstrip("?"): {"description": words} for name, words in fields.items()},
    }
    required = [name for name in fields if not name.endswith("?")]
    return {**schema, "required": required} if required else schema


def _error(words: str) -> dict[str, Any]:
    return {"description": words, "content": {_JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}}
