"""The package's command: `python -m pyfedsim replay FILE URL`."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ._requests import NotReached, NotRequests, replay_requests


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command: 0 where all answers agree, 1 where some differ, 2 for wrong input, 3 without an answer."""
    parser = argparse.ArgumentParser(prog="python -m pyfedsim", description="Tools on what FedSim writes.")
    commands = parser.add_subparsers(dest="command", required=True)
    replay = commands.add_parser(
        "replay", help="send the requests of a run to a server",
        description="Sends the lines of `fedsim export --format requests` to a server, and prints which answers differ.",
    )
    replay.add_argument("file", help="what `fedsim export --format requests` wrote")
    replay.add_argument("url", help="what paths are appended to, such as http://127.0.0.1:8000")
    replay.add_argument("--speed", type=float, help="seconds of the run per second; by default as fast as possible")
    replay.add_argument("--token", help="a token in place of those that the server does not hand out")
    replay.add_argument("--timeout", type=float, default=60.0, help="seconds to wait for an answer (60)")
    given = parser.parse_args(arguments)
    try:
        replayed = replay_requests(
            given.file, given.url, speed=given.speed, token=given.token, timeout=given.timeout,
        )
    except NotReached as error:
        print(f"stopped: no answer from {error}", file=sys.stderr)
        return 3
    except (OSError, NotRequests, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    differing = replayed.differing
    skipped = f", {replayed.skipped} skipped that reached no simulated server" if replayed.skipped else ""
    print(f"{len(replayed.sent)} requests sent{skipped}; {len(differing)} answered otherwise")
    if differing:
        print(replayed.table())
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
