"""Schemathesis against the OpenAPI document of a running service: whatever is posted, the answer is a described one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from web_browser import service

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed here")

ENDLESS = ("/stream", "/table/stream")


def probe_of(operation: Any, token: str, checks: list[Any]) -> Callable[[], None]:
    @given(case=operation.as_strategy())
    @settings(
        max_examples=8,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def probe(case: Any) -> None:
        answer = case.call(headers={"Authorization": f"Bearer {token}"}, timeout=60)
        case.validate_response(answer, checks=checks)

    return probe


def test_no_post_brings_the_service_down_or_an_answer_that_is_not_described(tmp_path: Path) -> None:
    from schemathesis.checks import load_all_checks, not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    load_all_checks()
    checks = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        schema = schemathesis.openapi.from_url(f"{one.url}/api/v1/openapi.json")
        card = one.table(1).rpartition("/")[2]
        probed = 0
        for result in schema.get_all_operations():
            operation = result.ok()
            if operation.path.endswith(ENDLESS):
                continue
            probe_of(operation, card if "/table" in operation.path else one.code, checks)()
            probed += 1
            card = one.table(1).rpartition("/")[2]  # a card may have been made anew
        assert probed > 50
        assert one.api("/health")["ok"] is True
