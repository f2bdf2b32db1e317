"""The queue: every wish that a routine run is one Fire with its Run, written here."""

from routines_app.fires.claim import Claim, claim_fire, renew_lease, requeue_fire
from routines_app.fires.request import FireRequest, request_fires
from routines_app.fires.waiting import place_in_line, waiting_fires

__all__ = [
    "Claim",
    "FireRequest",
    "claim_fire",
    "place_in_line",
    "renew_lease",
    "request_fires",
    "requeue_fire",
    "waiting_fires",
]
