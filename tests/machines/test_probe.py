"""What start-up says of a host's fitness for local machines."""

import os
from pathlib import Path

import pytest

from machines.providers.probe import probe_local


@pytest.fixture
def tools(machines_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH on which each tool is there and does nothing but fail."""
    folder = machines_root / "bin"
    folder.mkdir(mode=0o755)
    for name in ("bwrap", "bash", "tar", "du"):
        (folder / name).write_text(
            "#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n"
        )
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def sysctls(tmp_path: Path) -> Path:
    folder = tmp_path / "sysctls"
    (folder / "kernel").mkdir(parents=True)
    (folder / "user").mkdir()
    (folder / "user" / "max_user_namespaces").write_text("15000\n")
    return folder


@pytest.mark.sandbox
def test_a_fit_host_lacks_nothing(machines_root: Path) -> None:
    assert probe_local() is None
    assert probe_local(machines_root / "new") is None
    assert os.listdir(machines_root / "new") == []


@pytest.mark.parametrize(
    ("tool", "package"),
    [("bwrap", "bubblewrap"), ("bash", "bash"), ("tar", "tar"), ("du", "coreutils")],
)
def test_a_missing_tool_is_named_with_the_command_that_brings_it(
    tools: Path, tool: str, package: str
) -> None:
    (tools / tool).unlink()
    assert (probe_local() or "").endswith(f"Install it: apt-get install {package}")


@pytest.mark.parametrize(
    ("name", "value", "mend"),
    [
        ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
    ],
)
def test_a_switch_that_forbids_namespaces_is_named(
    tools: Path, sysctls: Path, name: str, value: str, mend: str
) -> None:
    (sysctls / name).write_text(f"{value}\n")
    said = probe_local(sysctls=sysctls) or ""
    assert "No permissions to create new namespace" in said
    assert said.endswith(f"Let bubblewrap make user namespaces: {mend}")


def test_a_sandbox_that_fails_for_no_known_reason_says_what_it_said(
    tools: Path, sysctls: Path
) -> None:
    said = probe_local(sysctls=sysctls) or ""
    assert said.startswith("Local machines don't work on this host.")
    assert "No permissions to create new namespace" in said


def test_an_old_bubblewrap_is_told_from_a_broken_one(tools: Path, sysctls: Path) -> None:
    old = "#!/bin/sh\necho 'bwrap: Unknown option --disable-userns' >&2\nexit 1\n"
    (tools / "bwrap").write_text(old)
    assert "bubblewrap 0.8 or newer" in (probe_local(sysctls=sysctls) or "")


def test_a_root_that_can_t_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = probe_local(tmp_path / "file" / "machines") or ""
    assert said.startswith(f"Local machines can't be kept in {tmp_path}/file/machines")
