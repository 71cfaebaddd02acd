"""Results that the tests read: made by the command, once for all tests.

FEDSIM names the command; without it, it is the release build of the project that this folder is in.
"""
import os
import pathlib
import subprocess

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
        "smoke/open", "record.events=true", "record.timelineOf=[phones/3, tablets/0]", "record.hoursByGroup=true",
    )


@pytest.fixture(scope="session")
def scenarios():
    """All scenarios of the project, and the command that resolves them."""
    def resolved(path):
        done = subprocess.run([COMMAND, "validate", path, "--resolved"], check=True, capture_output=True, text=True)
        return done.stdout

    return sorted((ROOT / "scenarios").rglob("*.yaml")), resolved
