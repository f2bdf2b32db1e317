"""Keeping what a run leaves for later ones, in the transaction that writes the run's end."""

from routines_app.models import Conversation, Routine
from routines_app.runner.closing import OpenRun
from routines_app.runner.ending import LeftBehind


def keep_turn(run: OpenRun, left: LeftBehind) -> None:
    """Add a run's turn to its routine's conversation, and drop those that it didn't go on from.

    `hold_open` holds the routine's row, so nobody starts the conversation anew or deletes the
    routine meanwhile. Where that was done since the run began, its turn is left out: it goes on
    from what is gone.
    """
    if not Routine.objects.present().filter(pk=run.routine_id).exists():
        return
    kept, _ = Conversation.objects.get_or_create(routine_id=run.routine_id)
    if kept.edition != left.edition:
        return
    kept.turns.filter(number__lt=left.oldest).delete()
    kept.turns.create(
        run_id=run.run_id,
        number=run.number,
        talk=left.text,
        size=left.size,
        reread=left.reread,
        kept_at=run.now,
    )
