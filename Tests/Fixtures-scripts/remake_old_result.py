#!/usr/bin/env python3
"""Gives a result of an older schema the values of today, where a change of results is meant.

    python Tests/Fixtures-scripts/remake_old_result.py Tests/RunsTests/Fixtures/results/open-schema1.h5

Plays the scenario that the result holds, and writes each variable that both have, the scenario with the keys of today
and their digests over the older ones. Everything else, such as which variables there are, stays as the older version of
FedSim wrote it. Needs h5py; FEDSIM names another program than .build/release/fedsim.
"""

import os
import re
import subprocess
import sys
import tempfile

import h5py


def main(path):
    with tempfile.TemporaryDirectory() as folder, h5py.File(path, "r+") as old:
        scenario = os.path.join(folder, "scenario.yaml")
        text = old["scenario"][()]
        with open(scenario, "w", encoding="utf-8") as file:
            file.write(text.decode() if isinstance(text, bytes) else text)
        fresh = os.path.join(folder, "fresh.h5")
        program = os.environ.get("FEDSIM", ".build/release/fedsim")
        subprocess.run([program, "run", scenario, "-q", "-o", fresh], check=True, stdout=subprocess.DEVNULL)
        changed = []
        with h5py.File(fresh) as new:

            def take(name, item):
                if not isinstance(item, h5py.Dataset) or name == "scenario" or name not in new:
                    return
                values = new[name][()]
                if item.shape != new[name].shape:
                    sys.exit(f"{name} has another shape: make the result with the older version of FedSim")
                if item[()].tobytes() != values.tobytes():
                    changed.append(name)
                    item[...] = values

            old.visititems(take)
            for digest in ("eventDigest", "scenarioDigest"):
                if old.attrs[digest] != new.attrs[digest]:
                    changed.append(digest)
                    old.attrs.modify(digest, new.attrs[digest])
            if "scenarioDigest" in changed:
                del old["scenario"]
                new.copy("scenario", old)
        print("\n".join(changed) or "nothing differs")
    # The program says which digest the content has now.
    said = subprocess.run([program, "replay", path], capture_output=True, text=True).stdout
    found = re.search(r"its content has the digest ([0-9a-f]{64})", said)
    if found:
        with h5py.File(path, "r+") as old:
            old.attrs.modify("contentDigest", found.group(1))


main(*sys.argv[1:])
