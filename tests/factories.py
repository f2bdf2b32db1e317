"""Rows for tests: small functions, each with defaults that make a row whole."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.models import Membership, Role, User, Workspace
from machines.models import Machine
from routines_app.models import (
    Agent,
    AgentRuntime,
    Connector,
    ConnectorState,
    Fire,
    Routine,
    Run,
    Step,
)
from routines_app.rules.status import RunStatus

NOON = datetime(2027, 3, 25, 12, 0, tzinfo=UTC)
_numbers = itertools.count(1)


def make_person(name: str = "Ada Byron", **fields: Any) -> User:
    """A person with an address of their own and the password "correct horse"."""
    email = fields.pop("email", f"person{next(_numbers)}@example.org")
    return User.objects.create_user(email, "correct horse", name=name, **fields)


def make_workspace(owner: User | None = None, **fields: Any) -> Workspace:
    """A workspace with its owner."""
    number = next(_numbers)
    workspace = Workspace.objects.create(
        **{"name": f"Harbour {number}", "slug": f"harbour-{number}"} | fields
    )
    Membership.objects.create(workspace=workspace, user=owner or make_person(), role=Role.OWNER)
    return workspace


def make_member(workspace: Workspace, role: Role, **fields: Any) -> User:
    """One more person in the workspace, with this role."""
    person = make_person(**fields)
    Membership.objects.create(workspace=workspace, user=person, role=role)
    return person


def owner_of(workspace: Workspace) -> User:
    """The person who owns it."""
    return workspace.memberships.get(role=Role.OWNER).user


def make_machine(workspace: Workspace, name: str = "harbour-1", **fields: Any) -> Machine:
    """A sleeping machine."""
    return Machine.objects.create(
        **{"workspace": workspace, "name": name, "slug": name, "provider": "memory"} | fields
    )


def make_agent(
    workspace: Workspace, name: str = "Script", runtime: str = AgentRuntime.SCRIPT, **fields: Any
) -> Agent:
    """A member of the roster; a script unless said otherwise."""
    return Agent.objects.create(
        **{"workspace": workspace, "name": name, "slug": name.lower(), "runtime": runtime} | fields
    )


def make_app(workspace: Workspace, name: str = "Helpdesk", **fields: Any) -> Connector:
    """A connected app with one tool that reads and one that changes things."""
    tools = [
        {"name": tool, "description": words, "schema": {"type": "object"}, "changes": changes}
        for tool, words, changes in (
            ("close_ticket", "Close a ticket.", True),
            ("find_ticket", "Find a ticket.", False),
        )
    ]
    defaults: dict[str, Any] = {
        "workspace": workspace,
        "name": name,
        "slug": name.lower(),
        "address": "http://127.0.0.1:9/mcp",
        "state": ConnectorState.CONNECTED,
        "tools": tools,
    }
    return Connector.objects.create(**defaults | fields)


def make_routine(workspace: Workspace, **fields: Any) -> Routine:
    """A routine that is on, daily at 8:00 UTC, with the workspace's machine and script agent."""
    number = next(_numbers)
    defaults: dict[str, Any] = {
        "workspace": workspace,
        "owner": owner_of(workspace),
        "name": f"Morning brief {number}",
        "slug": f"morning-brief-{number}",
        "instructions": "echo 'report: done'",
        "schedule_kind": "daily",
        "schedule_values": {"times": ["8:00"]},
        "expressions": ["0 8 * * *"],
        "enabled": True,
        "next_fire_at": NOON + timedelta(hours=20),
    }
    if "machine" not in fields:
        defaults["machine"] = workspace.machines.first() or make_machine(workspace)
    if "agent" not in fields:
        defaults["agent"] = workspace.agents.first() or make_agent(workspace)
    return Routine.objects.create(**defaults | fields)


def make_run(
    routine: Routine,
    status: RunStatus = RunStatus.DONE_CHANGED,
    *,
    at: datetime = NOON - timedelta(hours=4),
    seconds: float = 30,
    source: str = "timer",
    requested_by: User | None = None,
    **fields: Any,
) -> Run:
    """A run of this status that was due at `at`, with its fire; the routine's next number."""
    routine.run_counter += 1
    routine.save(update_fields=["run_counter"])
    over = status.final
    fire = Fire.objects.create(
        routine=routine,
        workspace=routine.workspace,
        source=source,
        dedup_key=f"{at.isoformat()} {routine.run_counter}",
        due_at=at,
        requested_at=at,
        requested_by=requested_by,
        schedule_version=routine.schedule_version,
        closed_at=at + timedelta(seconds=seconds) if over else None,
    )
    began = not status.refused and status is not RunStatus.QUEUED
    defaults: dict[str, Any] = {
        "fire": fire,
        "routine": routine,
        "workspace": routine.workspace,
        "machine": routine.machine,
        "agent": routine.agent,
        "number": routine.run_counter,
        "status": status,
        "queued_at": at,
        "waking_at": at if began else None,
        "effects_begun_at": at if began else None,
        "finished_at": at + timedelta(seconds=seconds) if over else None,
        "snapshot": {"cap": routine.cap},
    }
    return Run.objects.create(**defaults | fields)


def make_step(run: Run, kind: str, title: str = "", **fields: Any) -> Step:
    """The run's next step."""
    number = run.steps.count() + 1
    return Step.objects.create(
        **{"run": run, "number": number, "kind": kind, "title": title, "at": run.queued_at} | fields
    )
