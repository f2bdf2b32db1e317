"""A runner killed in a turn, a scanner that stops, Redis and PostgreSQL gone for a while.

With the product's own times: a lease of 45 s, a sweep each 5 s.
"""

import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from foundation import postgres
from tests.chaos.product import Product, Topology, installed
from tests.fakes.model_provider import FakeProvider, Meter

if TYPE_CHECKING:
    from tests.chaos.rows import Due, Town

LONG = "{{start}}\nsleep {seconds}\necho 'report: ran'"


@dataclass
class Outages:
    """The faults, each with what it came to."""

    topology: Topology
    product: Product
    town: "Town"
    wrong: int = 0

    def tell(self, name: str, figures: str, wrong: list[str]) -> None:
        """Print one fault's line."""
        self.wrong += len(wrong)
        print(
            f"{self.topology}: {name}: {figures}; {'; '.join(wrong) or 'as promised'}", flush=True
        )

    def in_a_turn(self, seconds: int, count: int = 1) -> "list[Due]":
        """Routines whose scripts have begun and take so long."""
        from tests.chaos.rows import comes_true

        text = LONG.format(seconds=seconds)
        dues = [self.town.due("script", script=text, check_command="") for _ in range(count)]
        for due in dues:
            due.fire()
        assert comes_true(lambda: all(due.starts()[1] for due in dues), 60)
        return dues

    def runner_killed(self) -> None:
        """kill -9 in a turn: interrupted within 90 s, never repeated."""
        from tests.chaos.rows import comes_true

        (due,) = self.in_a_turn(600)
        began = time.monotonic()
        self._kill_whoever_runs(due)
        ended = comes_true(due.is_over, 120)
        took = time.monotonic() - began
        time.sleep(3)
        wrong = due.violations({"fail_restart"})
        if not ended or took > 90:
            wrong.append("too late")
        self.tell("runner killed in a turn", f"interrupted after {took:.1f} s", wrong)

    def runner_stopped(self) -> None:
        """SIGTERM in a turn: interrupted within the drain, what waits is requeued or untouched."""
        from tests.chaos.rows import comes_true

        (due,) = self.in_a_turn(600)
        waiting = self.town.due("script", due.routine.workspace)  # its machine is busy
        waiting.fire()
        assert comes_true(waiting.row, 20)
        began = time.monotonic()
        if self.topology == "embedded":
            assert self.product.stop() == 0
            took = time.monotonic() - began
            self.product.start()
        else:
            os.kill(self._whoever_runs(due), signal.SIGTERM)
            comes_true(due.is_over, 60)
            took = time.monotonic() - began
        ran = comes_true(lambda: due.is_over() and waiting.is_over(), 60)
        wrong = due.violations({"fail_restart"}) + waiting.violations({"done_changed"})
        if not ran or took > 20:
            wrong.append("too late")
        what = "all stopped" if self.topology == "embedded" else "interrupted"
        self.tell("SIGTERM in a turn", f"{what} after {took:.1f} s, the next one ran", wrong)

    def runner_frozen(self) -> None:
        """SIGSTOP past the lease, then SIGCONT: what the stale runner still writes is refused."""
        from tests.chaos.rows import comes_true

        (due,) = self.in_a_turn(5)
        pid = self._whoever_runs(due)
        os.kill(pid, signal.SIGSTOP)
        began = time.monotonic()
        try:
            comes_true(due.is_over, 120)
            took = time.monotonic() - began
            wrong = due.violations({"fail_restart"})
        finally:
            os.kill(pid, signal.SIGCONT)
        time.sleep(5)
        wrong += due.violations({"fail_restart"})
        self.tell("runner frozen in a turn", f"interrupted after {took:.1f} s, stays so", wrong)

    def scanner_stopped(self, seconds: float = 190) -> None:
        """No scan across three occurrences of 40 routines."""
        from foundation import database_clock
        from routines_app.models import Fire, Notice, Routine, Run
        from tests.chaos.rows import comes_true

        workspace = self.town.workspace()
        ids = [self.town.due("script", workspace, check_command="").routine.pk for _ in range(40)]
        now = database_clock.now().replace(second=0, microsecond=0)
        first = now + timedelta(minutes=1)
        resume = self._stop_the_scanner()
        Routine.objects.filter(pk__in=ids).update(
            enabled=True, next_fire_at=first, expressions=["* * * * *"]
        )
        time.sleep(seconds)
        resume()
        back = database_clock.now()
        last = back.replace(second=0, microsecond=0)
        due = int((last - first).total_seconds() // 60) + 1
        fires = Fire.objects.filter(routine__in=ids, due_at__lte=last)
        scanned = comes_true(lambda: fires.count() >= 40 * due, 60)
        Routine.objects.filter(pk__in=ids).update(enabled=False)
        missed = Run.objects.filter(routine__in=ids, status="skip_missed").count()
        digests = Notice.objects.filter(workspace=workspace, run__isnull=True)
        wrong = [] if scanned else ["nothing came"]
        if fires.count() != 40 * due or Run.objects.filter(fire__in=fires).count() != 40 * due:
            wrong.append(f"{fires.count()} rows of {40 * due} occurrences")
        if digests.count() != 1 or digests[0].facts["count"] != missed:
            wrong.append(f"{digests.count()} digests: {[d.facts for d in digests]}")
        figures = (
            f"{due} occurrences each of 40 routines passed: {fires.count()} rows, {missed} missed, "
            f"{digests.count()} digest that counts {digests[0].facts['count'] if digests else 0}"
        )
        self.tell("scanner stopped", figures, wrong)

    def redis_flushed(self, times: int = 10) -> None:
        """FLUSHALL just after each occurrence was due; then Redis is killed."""
        late = [self._late(lambda: self._redis(b"FLUSHALL")) for _ in range(times)]
        wrong = [f"{seconds:.1f} s late" for seconds in late if seconds > 6]
        self.tell("Redis flushed", f"{times} times, at most {max(late):.1f} s late", wrong)

    def redis_killed(self) -> None:
        """Its death at the instant of an occurrence; lateness counts from when it is back."""
        from tests.chaos.rows import comes_true

        back: list[float] = []

        def kill() -> None:
            for pid in self.product.pids("redis"):
                os.kill(pid, signal.SIGKILL)
            assert comes_true(lambda: self._redis(b"PING").startswith(b"+PONG"), 30)
            back.append(time.monotonic())

        began = time.monotonic()
        late = self._late(kill)
        after = late - (back[0] - began)
        wrong = [f"{after:.1f} s late"] if after > 6 else []
        self.tell(
            "Redis killed", f"back after {back[0] - began:.1f} s, begun {after:.1f} s later", wrong
        )

    def postgres_restarted(self) -> None:
        """An immediate stop of the database in a turn: the run goes on, and so does the clock."""
        from foundation import database_clock
        from tests.chaos.rows import comes_true

        (due,) = self.in_a_turn(15)
        server = postgres.running_server(self.product.var / "postgres")
        assert server is not None
        os.kill(server.pid, signal.SIGQUIT)
        assert comes_true(lambda: not server.is_running(), 20)
        assert comes_true(lambda: database_clock.now() is not None, 60)
        back = time.monotonic()
        other = self.town.due("script", check_command="")
        other.fire()
        claimed = comes_true(lambda: (row := other.row()) and row.attempt, 60)
        took = time.monotonic() - back
        ended = comes_true(lambda: due.is_over() and other.is_over(), 90)
        wrong = due.violations({"done_changed"}) + other.violations({"done_changed"})
        if not (claimed and ended) or took > 15:
            wrong.append("too late")
        self.tell(
            "PostgreSQL restarted", f"the turn went on; next claim {took:.1f} s after it", wrong
        )

    def turns_fill_the_runners(self) -> None:
        """Every thread of every runner has a long turn: the scan goes on."""
        from foundation import database_clock
        from routines_app.fires.beats import behind, last_beat

        dues = self.in_a_turn(25, count=8)
        time.sleep(10)
        beat = last_beat("scan")
        assert beat is not None
        age = (database_clock.now() - beat).total_seconds()
        wrong = [each.name for each in behind()] + ([] if age < 5 else ["the scan is late"])
        from tests.chaos.rows import comes_true

        assert comes_true(lambda: all(due.is_over() for due in dues), 90)
        self.tell("all runners busy for 10 s", f"last scan {age:.1f} s ago", wrong)

    def _late(self, fault: Callable[[], object]) -> float:
        """Seconds from an occurrence, with a fault just after it, to its run's first moment."""
        from tests.chaos.rows import comes_true

        due = self.town.due("script", check_command="")
        began = time.monotonic()
        due.fire()
        fault()
        assert comes_true(lambda: (row := due.row()) and row.waking_at, 90)
        late = time.monotonic() - began
        assert comes_true(due.is_over, 60)
        assert not due.violations({"done_changed"})
        return late

    def _whoever_runs(self, due: "Due") -> int:
        run = due.row()
        assert run is not None
        return int(run.fire.claimed_by.rpartition(":")[2])

    def _kill_whoever_runs(self, due: "Due") -> None:
        os.kill(self._whoever_runs(due), signal.SIGKILL)
        if self.topology == "embedded":
            self.product.bring_back()

    def _stop_the_scanner(self) -> Callable[[], None]:
        """Stop it for as long as wanted; the returned call lets it go on."""
        if self.topology == "embedded":
            assert self.product.stop() == 0
            self._database_alone()
            return self.product.start
        stopped = self.product.pids("clock") + self.product.pids("beat")
        assert len(stopped) == 2
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)

        def resume() -> None:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)

        return resume

    def _database_alone(self) -> None:
        """The embedded database without its product, so that rows can be written meanwhile."""
        from django.db import connection

        from foundation.embedded import start_database

        start_database(self.product.var)
        connection.close()  # it was to the server that stopped with the product

    def _redis(self, command: bytes) -> bytes:
        import json

        kept = json.loads((self.product.var / "secrets.json").read_text())
        try:
            with socket.create_connection(("127.0.0.1", self.product.redis_port), 2) as session:
                session.sendall(f"AUTH {kept['REDIS_PASSWORD']}\r\n".encode())
                session.recv(100)
                session.sendall(command + b"\r\n")
                return session.recv(100)
        except OSError:
            return b""


def outages(topology: Topology, names: list[str]) -> int:
    """Let each fault happen (all when none is named) and print its line; the violations."""
    faults = ["runner_killed", "runner_stopped", "postgres_restarted", "turns_fill_the_runners"]
    if topology == "production":
        faults += ["runner_frozen", "redis_flushed", "redis_killed"]
    faults.append("scanner_stopped")
    with (
        FakeProvider((), Meter(bytes_per_token=2.5)) as fake,
        installed(topology) as product,
    ):
        from tests.chaos.rows import Town

        happening = Outages(topology, product, Town(fake))
        for name in names or faults:
            getattr(happening, name)()
    return happening.wrong
