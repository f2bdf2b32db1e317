"""docker-compose.yml as far as it can be judged without an engine: it says what `stack` does."""

from typing import Any

import pytest
import yaml

from routines_app.management.stack import worker
from tests.run import PRODUCTION
from tests.running_app import ROOT


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return found


def test_every_process_of_the_stack_is_a_service(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {
        *("postgres", "redis", "migrate"),
        *("web", "beat", "clock", "runner"),
    }
    for queue in ("clock", "runner"):
        command = compose["services"][queue]["command"]
        ours = worker(queue, queue, 1)
        for word in ("-Q", "--pool", "--without-gossip", "--without-mingle"):
            assert word in command and word in ours
        assert command[command.index("-Q") + 1] == queue == ours[ours.index("-Q") + 1]
        assert command[command.index("--pool") + 1] == "threads"
    assert compose["services"]["migrate"]["command"] == ["python", "manage.py", "prepare"]
    assert compose["services"]["runner"]["deploy"]["replicas"] >= 2


def test_each_has_every_setting_that_production_insists_on(compose: dict[str, Any]) -> None:
    for name in ("migrate", "web", "beat", "clock", "runner"):
        assert set(compose["services"][name]["environment"]) >= set(PRODUCTION)
        assert "SECURE_SSL" not in compose["services"][name]["environment"]


def test_each_waits_for_what_it_needs_and_is_watched(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for name, service in services.items():
        assert "healthcheck" in service or name == "migrate", name
        for needed, how in service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert "healthcheck" in services[needed]
    for name in ("web", "beat", "clock", "runner"):
        needs = services[name]["depends_on"]
        assert needs["migrate"]["condition"] == "service_completed_successfully"
    assert services["migrate"]["depends_on"]["postgres"]["condition"] == "service_healthy"


def test_a_runner_is_given_longer_than_its_drain(compose: dict[str, Any]) -> None:
    assert int(compose["services"]["runner"]["stop_grace_period"].removesuffix("s")) > 20
