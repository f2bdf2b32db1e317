"""`python scripts/healthy.py HOST PATH`: whether the site says 200 there; for health checks.

It asks by a name that the site allows, since a container's own isn't one.
"""

import os
import sys
from http.client import HTTPConnection


def main(host: str, path: str) -> int:
    """0 for an answer of 200, else 1 with what came instead."""
    name = os.environ.get("ALLOWED_HOSTS", "localhost").split(",")[0].strip()
    asked = HTTPConnection(host, 8000, timeout=8)
    try:
        asked.request("GET", path, headers={"Host": name})
        answer = asked.getresponse()
        said = f"{answer.status} {answer.read(500).decode(errors='replace')}"
    except OSError as error:
        print(f"no answer: {error}")
        return 1
    finally:
        asked.close()
    print(said)
    return 0 if answer.status == 200 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
