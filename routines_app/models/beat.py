"""Signs of life of the clock's work, which the watchdog reads."""

from django.db import models


class Beat(models.Model):
    """When one piece of the clock's work last came to its end. `name`: scan, sweep, reap, outbox.

    `gap_from` and `gap_to` are the last stretch, longer than a minute, in which it didn't.
    """

    name = models.CharField(max_length=16, primary_key=True)
    at = models.DateTimeField()
    gap_from = models.DateTimeField(null=True, blank=True)
    gap_to = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} at {self.at:%H:%M:%S}"
