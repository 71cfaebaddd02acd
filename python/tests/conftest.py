"""Results that the tests read: made by the command, once for all tests.

FEDSIM names the command; without it, it is the release build of the project that this folder is in.
FEDSIM_RESULTS names a folder with results of all scenarios.
"""
import os
import pathlib
import re
import subprocess
import time

import h5py
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("FEDSIM", str(ROOT / ".build" / "release" / "fedsim"))


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """Runs a scenario of the project with further values; the path of its result."""
    folder = tmp_path_factory.mktemp("results")
    made = {}

    def result(scenario, *settings):
        key = (scenario, *settings)
        if key not in made:
            path = folder / f"{len(made)}.h5"
            sets = [word for setting in settings for word in ("--set", setting)]
            subprocess.run(
                [COMMAND, "run", ROOT / "scenarios" / f"{scenario}.yaml", "--quiet", "--output", path, *sets],
                check=True, stdout=subprocess.DEVNULL,
            )
            made[key] = str(path)
        return made[key]

    return result


@pytest.fixture(scope="session")
def night(run):
    """Phones and tablets for two days, with all that can be recorded."""
    return run(
        "smoke/open", "record.events=true", "record.updates=true", "record.timelineOf=[phones/3, tablets/0]", "record.hoursByGroup=true",
    )


@pytest.fixture(scope="session")
def recovered(tmp_path_factory):
    """What `fedsim recover` makes of a run that was killed, without a checkpoint and with one."""
    folder = tmp_path_factory.mktemp("recovered")
    found = []
    for name, every in (("journal", "0"), ("checkpoint", "5 rounds")):
        path = folder / f"{name}.h5"
        words = [COMMAND, "run", ROOT / "scenarios" / "smoke" / "open.yaml", "--quiet", "--output", path]
        process = subprocess.Popen([*words, "--set", "stop.after=36500 d", "--checkpoint-every", every])
        wanted = path.with_name(path.name + ".run") / ("journal" if every == "0" else "checkpoint")
        for _ in range(600):
            if wanted.exists() and wanted.stat().st_size > 20_000:
                break
            time.sleep(0.05)
        process.kill()
        process.wait()
        subprocess.run([COMMAND, "recover", path], check=True, stdout=subprocess.DEVNULL)
        found.append(str(path))
    return found


@pytest.fixture(scope="session")
def resolved():
    """The resolved scenarios of the project by name: of the results in FEDSIM_RESULTS, else of the smoke scenarios."""
    if folder := os.environ.get("FEDSIM_RESULTS"):
        texts = {}
        for path in sorted(pathlib.Path(folder).glob("*.h5")):
            with h5py.File(path) as file:
                texts[path.stem] = file["scenario"].asstr()[()]
        return texts
    return {
        # A result has no comments on what the file of a model gave.
        path.stem: re.sub(r'  # from [^"\n]*$', "", subprocess.run(
            [COMMAND, "validate", path, "--resolved"], check=True, capture_output=True, text=True,
        ).stdout, flags=re.MULTILINE)
        for path in sorted((ROOT / "scenarios" / "smoke").glob("*.yaml"))
    }
