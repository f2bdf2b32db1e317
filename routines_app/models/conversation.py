"""What a routine's runs said, where its conversation goes on from run to run."""

from __future__ import annotations

from django.db import models

from accounts.models import User
from foundation import clock
from routines_app.models.routine import Routine
from routines_app.models.run import Run


class Conversation(models.Model):
    """One routine's conversation. `edition` grows each time that it's started anew: what a run
    leaves is kept only in the edition in which that run began."""

    routine = models.OneToOneField(
        Routine, primary_key=True, on_delete=models.CASCADE, related_name="talk"
    )
    edition = models.PositiveIntegerField(default=0)
    anew_at = models.DateTimeField(null=True, blank=True)
    anew_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    def __str__(self) -> str:
        return f"conversation of {self.routine_id}"


class ConversationTurn(models.Model):
    """What one run's turn left for later runs.

    `talk` is JSON as `agents.kept` writes and reads it, a text and not a JSON column: it goes back
    to the model as the same bytes. `size` is its bytes as they are sent, which bound its tokens;
    `reread` about what reading the earlier turns cost that run, in micro-dollars.
    """

    # Without an index of its own: `one_turn_a_number` begins with it.
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="turns", db_index=False
    )
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="+")
    number = models.PositiveIntegerField()
    talk = models.TextField()
    size = models.PositiveIntegerField()
    reread = models.BigIntegerField(default=0)
    kept_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "number"], name="one_turn_a_number")
        ]

    def __str__(self) -> str:
        return f"turn {self.number} of {self.conversation_id}"
