#!/usr/bin/env python3
"""Makes the files of Tests/ResultsTests/Fixtures that look like results and are none. Needs h5py.

    python Tests/Fixtures-scripts/make_damaged_results.py Tests/ResultsTests/Fixtures
"""

import os
import random
import signal
import subprocess
import sys

import h5py

# What is done with a damaged file in a process of its own: enough for HDF5 to trust it.
READ = """
import h5py, sys
def read(group):
    for name in group:
        read(group[name])
    return [str(value) for value in group.attrs.values()]
read(h5py.File(sys.argv[1]))
"""


def crash(path):
    """Writes a file of nine groups with attributes, damaged so that libhdf5 1.10.8 ends the process."""
    with h5py.File(path, "w", libver=("earliest", "v108"), track_order=True) as file:
        file.attrs["Conventions"] = "CF-1.10 FedSim-1"
        for number in range(9):
            group = file.create_group(f"group{number}", track_order=True)
            for i in range(10):
                group.attrs[f"a{i}"] = f"text {i}"
    with open(path, "rb") as file:
        whole = file.read()
    marks = [b"FRHP", b"FHDB", b"OHDR", b"SNOD", b"TREE", b"BTHD", b"BTLF", b"FHIB", b"OCHK", b"GCOL", b"HEAP"]
    places = [i for mark in marks for i in range(len(whole)) if whole.startswith(mark, i)]
    draws = random.Random(5)
    while True:
        damaged = bytearray(whole)
        for _ in range(draws.randint(1, 3)):
            place = draws.choice(places) + draws.randint(0, 120)
            if place < len(damaged):
                damaged[place] = draws.randrange(256)
        with open(path, "wb") as file:
            file.write(damaged)
        done = subprocess.run([sys.executable, "-c", READ, path], capture_output=True)
        if done.returncode in (-signal.SIGSEGV, -signal.SIGABRT):
            return


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
    crash(os.path.join(folder, "crash.h5"))


main(*sys.argv[1:])
