"""`manage.py up`: the whole product in one process, on this computer."""

import os
import shutil
import signal
import subprocess
import threading
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from billing.pricing import seed_price_table
from foundation import clock
from foundation.embedded import CannotStart, ground
from machines.providers.probe import probe_local
from routines_app.admission.machine_care import settle_after_start
from routines_app.celery import app
from routines_app.management.queues import QueueThread, ticks_of
from routines_app.management.web import WebThread
from routines_app.runner.lease import draining
from routines_app.runner.rescue import rescue_dead_runs

_CLOCK_THREADS = 4


class Command(BaseCommand):
    """Migrate, then serve: the site, the clock and the runner, until Ctrl-C or SIGTERM."""

    help = "Run Routines on this computer (make up)."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        held = ground()
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: stop.set())
        if settings.MACHINE_PROVIDER == "local" and (why := _sandbox_problem()):
            raise CannotStart(why)
        settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
        call_command("migrate", interactive=False, verbosity=0)
        seed_price_table(clock.now())
        rescue_dead_runs(all_claims=True)  # this place is ours alone: whoever held them is dead
        settle_after_start()
        app.loader.import_default_modules()
        ticking = QueueThread(app, "clock", _CLOCK_THREADS, ticks_of(app))
        runner = QueueThread(app, "runner", settings.RUNNER_THREADS)
        web = WebThread(held.listeners)
        parts: dict[str, QueueThread | WebThread] = {"clock": ticking, "runner": runner, "web": web}
        for part in parts.values():
            part.start()
        told = False
        ended: list[str] = []
        while not ended and not stop.wait(0.1):
            ended = [name for name, part in parts.items() if not part.is_serving()]
            if held.mend_database():
                self.stderr.write("PostgreSQL had died and runs again.")
            if not told and web.has_started():
                told = True
                if held.database_elsewhere is not None:
                    self.stdout.write(f"Its database is in {held.database_elsewhere}.")
                self.stdout.write(f"Routines runs at {held.address}  (Ctrl-C stops it)")
                self.stdout.flush()
        self._stop(web, ticking, runner)
        if ended:
            raise CannotStart(f"The {ended[0]} ended by itself; the lines above say why.")

    def _stop(self, web: WebThread, ticking: QueueThread, runner: QueueThread) -> None:
        """The site first, then no new work, then a while for the work that runs."""
        self.stdout.write("Stopping...")
        self.stdout.flush()
        draining.set()
        ticking.stop()
        runner.stop()
        web.stop()
        deadline = clock.monotonic() + settings.DRAIN_SECONDS
        for part in (ticking, runner):
            part.drained(max(deadline - clock.monotonic(), 0.0))


def _sandbox_problem() -> str | None:
    """Why local machines can't run here; None when they can, perhaps after an install."""
    why = probe_local(settings.MACHINES_ROOT)
    if why is None or shutil.which("bwrap") or os.geteuid() != 0 or not shutil.which("apt-get"):
        return why
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "bubblewrap"],
    ):
        subprocess.run(command, env=quiet, capture_output=True, check=False)
    return probe_local(settings.MACHINES_ROOT)
