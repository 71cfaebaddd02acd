#!/usr/bin/env python3
"""Makes the files of Tests/ResultsTests/Fixtures that look like results and are none. Needs h5py.

    python Tests/Fixtures-scripts/make_damaged_results.py Tests/ResultsTests/Fixtures
"""

import os
import sys

import h5py


def main(folder):
    with h5py.File(os.path.join(folder, "loop.h5"), "w", libver="latest") as file:
        file.attrs["Conventions"] = "CF-1.10 FedSim-1"
        devices = file.create_group("devices")
        # A group in itself, twice: the paths double with each level.
        devices["one"] = devices
        devices["two"] = devices
    with h5py.File(os.path.join(folder, "deep.h5"), "w", libver="latest") as file:
        group = file
        for _ in range(40):
            group = group.create_group("x")


main(*sys.argv[1:])
