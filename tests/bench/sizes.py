"""How much of everything a measurement makes and how often it repeats."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """`routines` and `runs` go from the small size that ratios refer to up to the large one."""

    routines: tuple[int, ...]
    scans: int
    herd: int
    herds: int
    jobs: int
    whole_jobs: int
    job_rounds: int
    starts: int
    runs: tuple[int, int]
    views: int
    wakes: int
    rest_seconds: int


USUAL = Sizes(
    routines=(1_000, 100_000, 1_000_000),
    scans=15,
    herd=10_000,
    herds=5,
    jobs=1_000,
    whole_jobs=100,
    job_rounds=3,
    starts=60,
    runs=(100_000, 1_000_000),
    views=15,
    wakes=30,
    rest_seconds=60,
)
LARGE = Sizes(**{**USUAL.__dict__, "runs": (1_000_000, 10_000_000)})
QUICK = Sizes(
    routines=(1_000, 20_000),
    scans=2,
    herd=200,
    herds=1,
    jobs=30,
    whole_jobs=10,
    job_rounds=1,
    starts=3,
    runs=(300, 900),
    views=2,
    wakes=2,
    rest_seconds=5,
)
