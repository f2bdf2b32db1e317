"""Every status that a run can have, and what each means. The one list of statuses.

Source of the codes and their properties: the design guide, section 5.
Their sentences are in `rules.sentences`.
"""

from enum import StrEnum
from typing import assert_never


class Shape(StrEnum):
    """How an outcome is drawn on the line; colour only repeats it."""

    WAITING = "waiting"  # dotted bar
    LIVE = "live"  # outlined bar, breathing
    DONE = "done"  # tall bar
    QUIET = "quiet"  # half bar
    STUB = "stub"  # square stub
    RING = "ring"  # hollow ring on the line
    BLOCK = "block"  # square below
    POINT = "point"  # downward point below


class Rings(StrEnum):
    """When the bell rings: always, never, or as the routine is set."""

    YES = "yes"
    NO = "no"
    AS_SET = "set"
    SELDOM = "seldom"  # once per cause: the guide's "once", "once a day", "third in a row"


class RunStatus(StrEnum):
    """Where a run is, or how it ended."""

    # not over yet
    QUEUED = "queued"
    WAKING = "waking"
    CHECKING = "checking"
    RUNNING = "running"
    STOPPING = "stopping"
    # above the line
    DONE_CHANGED = "done_changed"
    DONE_UNCHANGED = "done_unchanged"
    NOTHING_TO_DO = "nothing_to_do"
    # on the line
    SKIP_OFF = "skip_off"
    SKIP_PAUSED = "skip_paused"
    SKIP_AUTO_OFF = "skip_auto_off"
    SKIP_BUDGET = "skip_budget"
    SKIP_PLAN_COUNT = "skip_plan_count"
    SKIP_PLAN_QUOTA = "skip_plan_quota"
    SKIP_COLD = "skip_cold"
    SKIP_WAKE_REFUSED = "skip_wake_refused"
    SKIP_WAKE_TIMEOUT = "skip_wake_timeout"
    SKIP_MACHINE_GONE = "skip_machine_gone"
    SKIP_OVERLAP = "skip_overlap"
    SKIP_TOO_FREQUENT = "skip_too_frequent"
    SKIP_MISSED = "skip_missed"
    SKIP_SUPERSEDED = "skip_superseded"
    SKIP_CHANGED = "skip_changed"
    SKIP_WAITED = "skip_waited"
    SKIP_NO_MODEL = "skip_no_model"
    SKIP_CONNECTOR = "skip_connector"
    FAIL_NO_GRANT = "fail_no_grant"
    # below the line
    STOP_COST = "stop_cost"
    STOP_TIME = "stop_time"
    STOP_PERSON = "stop_person"
    STOP_DELETED = "stop_deleted"
    FAIL_CHECK_MISSING = "fail_check_missing"
    FAIL_CHECK_DENIED = "fail_check_denied"
    FAIL_CHECK_TIMEOUT = "fail_check_timeout"
    FAIL_CHECK_CRASH = "fail_check_crash"
    FAIL_MODEL = "fail_model"
    FAIL_TOOL = "fail_tool"
    FAIL_SCRIPT = "fail_script"
    FAIL_AGENT = "fail_agent"
    FAIL_RESTART = "fail_restart"
    FAIL_EMPTY = "fail_empty"
    FAIL_MACHINE = "fail_machine"
    FAIL_PLATFORM = "fail_platform"

    @property
    def live(self) -> bool:
        """Whether a runner holds it: waking, checking, running or stopping."""
        return self in _LIVE

    @property
    def final(self) -> bool:
        """Whether it is over. A final status is written once and never changes."""
        return self is not RunStatus.QUEUED and not self.live

    @property
    def shape(self) -> Shape:
        """How it is drawn."""
        match self:
            case RunStatus.QUEUED:
                return Shape.WAITING
            case RunStatus.WAKING | RunStatus.CHECKING | RunStatus.RUNNING | RunStatus.STOPPING:
                return Shape.LIVE
            case RunStatus.DONE_CHANGED:
                return Shape.DONE
            case RunStatus.DONE_UNCHANGED:
                return Shape.QUIET
            case RunStatus.NOTHING_TO_DO:
                return Shape.STUB
            case (
                RunStatus.SKIP_OFF
                | RunStatus.SKIP_PAUSED
                | RunStatus.SKIP_AUTO_OFF
                | RunStatus.SKIP_BUDGET
                | RunStatus.SKIP_PLAN_COUNT
                | RunStatus.SKIP_PLAN_QUOTA
                | RunStatus.SKIP_COLD
                | RunStatus.SKIP_WAKE_REFUSED
                | RunStatus.SKIP_WAKE_TIMEOUT
                | RunStatus.SKIP_MACHINE_GONE
                | RunStatus.SKIP_OVERLAP
                | RunStatus.SKIP_TOO_FREQUENT
                | RunStatus.SKIP_MISSED
                | RunStatus.SKIP_SUPERSEDED
                | RunStatus.SKIP_CHANGED
                | RunStatus.SKIP_WAITED
                | RunStatus.SKIP_NO_MODEL
                | RunStatus.SKIP_CONNECTOR
                | RunStatus.FAIL_NO_GRANT
            ):
                return Shape.RING
            case (
                RunStatus.STOP_COST
                | RunStatus.STOP_TIME
                | RunStatus.STOP_PERSON
                | RunStatus.STOP_DELETED
            ):
                return Shape.BLOCK
            case (
                RunStatus.FAIL_CHECK_MISSING
                | RunStatus.FAIL_CHECK_DENIED
                | RunStatus.FAIL_CHECK_TIMEOUT
                | RunStatus.FAIL_CHECK_CRASH
                | RunStatus.FAIL_MODEL
                | RunStatus.FAIL_TOOL
                | RunStatus.FAIL_SCRIPT
                | RunStatus.FAIL_AGENT
                | RunStatus.FAIL_RESTART
                | RunStatus.FAIL_EMPTY
                | RunStatus.FAIL_MACHINE
                | RunStatus.FAIL_PLATFORM
            ):
                return Shape.POINT
            case _:
                assert_never(self)

    @property
    def refused(self) -> bool:
        """Whether nothing began: the row says why it didn't run."""
        return self.shape is Shape.RING

    @property
    def completed(self) -> bool:
        """Whether a turn came to its own end. Only this resets the streak of failures."""
        return self in (RunStatus.DONE_CHANGED, RunStatus.DONE_UNCHANGED)

    @property
    def failed(self) -> bool:
        """Whether something went wrong: stopped early by a limit, or failed."""
        return self.shape is Shape.POINT or self in (RunStatus.STOP_COST, RunStatus.STOP_TIME)

    @property
    def may_count(self) -> bool:
        """Whether it counts towards turning the routine off, unless the fault is ours."""
        return self.failed and self not in (RunStatus.FAIL_RESTART, RunStatus.FAIL_PLATFORM)

    @property
    def rings(self) -> Rings:
        """Whether the bell rings for it. Failures always ring, whatever the routine's setting."""
        if self.failed:
            return Rings.YES
        match self:
            case RunStatus.DONE_CHANGED | RunStatus.DONE_UNCHANGED:
                return Rings.AS_SET
            case (
                RunStatus.SKIP_COLD
                | RunStatus.SKIP_WAKE_REFUSED
                | RunStatus.SKIP_WAKE_TIMEOUT
                | RunStatus.SKIP_MACHINE_GONE
                | RunStatus.SKIP_MISSED
                | RunStatus.SKIP_WAITED
                | RunStatus.SKIP_NO_MODEL
                | RunStatus.SKIP_CONNECTOR
            ):
                return Rings.YES
            case (
                RunStatus.SKIP_AUTO_OFF
                | RunStatus.SKIP_BUDGET
                | RunStatus.SKIP_PLAN_COUNT
                | RunStatus.SKIP_PLAN_QUOTA
                | RunStatus.SKIP_OVERLAP
                | RunStatus.FAIL_NO_GRANT
            ):
                return Rings.SELDOM
            case _:
                return Rings.NO


_LIVE = frozenset({RunStatus.WAKING, RunStatus.CHECKING, RunStatus.RUNNING, RunStatus.STOPPING})
LIVE_STATUSES: tuple[RunStatus, ...] = tuple(s for s in RunStatus if s.live)
OPEN_STATUSES: tuple[RunStatus, ...] = tuple(s for s in RunStatus if not s.final)
FINAL_STATUSES: tuple[RunStatus, ...] = tuple(s for s in RunStatus if s.final)
