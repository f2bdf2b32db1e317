"""A page that is to be taken, as a value."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shown:
    """One page to take. `mockup` names its picture in the mock-ups' folder, without `.png`.

    `signed_out`: it is for somebody who isn't signed in. `state`: one of several of its page, which
    is taken in two looks instead of four.
    """

    name: str
    path: str
    mockup: str = ""
    signed_out: bool = False
    state: bool = False
