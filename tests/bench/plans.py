"""How PostgreSQL goes about the statements that a piece of the product executes."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from django.db import connection, transaction

LARGE_TABLES = {"routines_app_routine", "routines_app_fire", "routines_app_run"}
_EXPLAINABLE = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")


def statements_of(work: Callable[[], object]) -> list[tuple[str, Any]]:
    """The statements that `work` executes, with their values."""
    found: list[tuple[str, Any]] = []

    def keep(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        found.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(keep):
        work()
    return found


def sequential_scans(work: Callable[[], object]) -> list[str]:
    """Each sequential scan of a large table in the plans of what `work` executes."""
    scans: list[str] = []
    for sql, params in statements_of(work):
        if not sql.lstrip().upper().startswith(_EXPLAINABLE):
            continue
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
            plan = cursor.fetchone()[0]
        read = json.loads(plan) if isinstance(plan, str) else plan
        for node in _nodes(read[0]["Plan"]):
            if node["Node Type"] == "Seq Scan" and node.get("Relation Name") in LARGE_TABLES:
                scans.append(f"{node['Relation Name']} in: {' '.join(sql.split())[:80]}")
    return scans


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)
