"""Runs as functions."""
from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence

from ._ask import validate
from ._callbacks import Callback, Follower, trackers
from ._command import Ended, Interrupted, call, words_of
from ._faults import ScenarioError, require, warn, warnings_of
from ._file import Path
from ._given import Given, Values, words
from ._progress import Bar, Shown
from ._result import Result


def run(
    scenario: Given, *, set: Values | None = None, seed: int | None = None, output: Path | None = None,
    threads: int | None = None, workers: int | None = None, progress: Shown = "auto", force: bool = False,
    restart: bool = False, callbacks: Sequence[Callback] = (),
) -> Result:
    """Runs a scenario, a file or a dictionary, and gives its result.

    `set` lays values over the scenario by their paths (None brings back the default), `seed` is the seed. Paths in a
    dictionary start in the current folder, those in a file in the file's. `threads` and `workers` change no result.

    Without `output`, the result of a file is `results/NAME.h5` in the current folder, as with the command. That of a
    dictionary is in a temporary folder, which is removed together with the `Result`. The result of other settings, seed
    or data is replaced with `force=True` only, an unfinished run is discarded with `restart=True`.

    `callbacks` are called with each version as it is published (columns of the table `versions`; times in s, bytes,
    shares from 0 to 1), or are trackers (`pyfedsim.trackers`). They change no result. An error that one raises ends the
    run, which can be resumed.

    Warnings: `ScenarioWarning` for what the run warns of, and for each assertion of `expect` that is broken.
    Errors: `ScenarioError` with file, line and column (nothing was run); `RunError`; `CommandNotFound`;
    `KeyboardInterrupt` on Ctrl-C, whose note says how to resume; `TypeError` for what no scenario can hold.
    """
    what, given = words(scenario, set, seed)
    folder: str | None = None
    if output is None and isinstance(scenario, Mapping):
        folder = tempfile.mkdtemp(prefix="fedsim-")
        output = os.path.join(folder, "result.h5")
    options = words_of({
        "output": output, "threads": threads, "workers": workers, "force": force, "restart": restart,
    })
    following = trackers(callbacks)
    settings = validate(scenario, set=set, seed=seed, _warns=False).settings if following else {}
    for tracker in following:
        tracker.begin(settings)
    return _play(["run", *options], [*what], given, progress, callbacks, folder)


def resume(
    result: Path, *, threads: int | None = None, workers: int | None = None, progress: Shown = "auto",
    callbacks: Sequence[Callback] = (),
) -> Result:
    """Resumes an interrupted run by the path of its result, which has the bytes of an uninterrupted one.

    Callbacks hear of the versions from the last checkpoint on; a tracker begins with no settings.
    Warnings and errors: as `run`.
    """
    for tracker in trackers(callbacks):
        tracker.begin({})
    options = words_of({"threads": threads, "workers": workers})
    return _play(["resume", *options], ["--", os.fspath(result)], None, progress, callbacks, None)


def _play(
    head: list[str], what: list[str], given: str | None, progress: Shown, callbacks: Sequence[Callback],
    folder: str | None, program: tuple[int, int] | None = None,
) -> Result:
    result: Result | None = None
    bar = Bar(progress, head[0])
    try:
        follower = Follower(bar, callbacks)
        ended = call([*head, "--json", "--progress", "json", *what], given, follower.line, program)
        require(ended, ScenarioError, fine=(0, 1))
        bar.show(1.0, "")
        summary = json.loads(ended.out)
        found = warnings_of(ended.error)
        result = Result(summary["result"], summary, found, folder)
        warn(found)
        return result
    except Interrupted as interrupted:
        raise _resumable(interrupted.ended) from None
    finally:
        bar.close()
        # What can be resumed stays; its path is in the message.
        if folder is not None and result is None and not os.path.isdir(os.path.join(folder, "result.h5.run")):
            shutil.rmtree(folder, ignore_errors=True)
        for tracker in trackers(callbacks):
            tracker.end(result.summary if result else None)


def _resumable(ended: Ended) -> KeyboardInterrupt:
    """What is raised on Ctrl-C."""
    note = next((line for line in ended.error.splitlines() if line.startswith("interrupted; ")), "interrupted")
    error = KeyboardInterrupt(note)
    if hasattr(error, "add_note"):  # From Python 3.11 on.
        error.add_note(note.partition("; ")[2].replace("resume with: ", "resume with: pyfedsim.resume, or "))
    return error
