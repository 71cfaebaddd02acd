#!/usr/bin/env python3
"""Hands damaged files to the command, and holds it to limits (Scripts/fuzz).

    fuzz.py --fedsim PATH [--kind KIND] [--first N] [--cases N] [--seed S] [--case N] [--keep FOLDER] [--summary FILE]

Kinds: `results` (a damaged result, and a sweep with a damaged cell, in front of every command that reads one), `runs`
(the damaged folder of a run that was killed), `scenarios` (damaged scenario files), `data` (damaged data files,
traces, tables, partitions and weights), `worlds` (worlds of `fedsim stress`, each also played with other threads,
kernels, worker processes, or killed and resumed: the same bytes, no broken invariant), `polls` (the same with made-up
worlds whose devices ask again and again). A case is a function of kind, seed and number. It fails if the command is ended by
a signal, takes longer than 10 s, needs more than 1 GB, ends with another exit code than 0 to 3, changes its
input, leaves a partial file, leaves an output that it says it has not written, or writes a wrong one. A failed case
is kept with its command.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kinds

SECONDS = 10
BYTES = 1 << 30


class Outcome:
    """How a command ended."""

    def __init__(self, code, seconds, bytes_, hung, error, limit=SECONDS):
        self.code, self.seconds, self.bytes, self.hung, self.error = code, seconds, bytes_, hung, error
        self.limit = limit

    @property
    def fault(self):
        if self.hung:
            return f"it took longer than {self.limit} s"
        if self.code < 0:
            return f"signal {-self.code}"
        if self.bytes > BYTES:
            return f"it needed {self.bytes >> 20} MiB"
        if self.code > 3:
            return f"exit code {self.code}"
        return None


def limit(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, folder, seconds=SECONDS):
    """Runs a command within the limits."""
    began = time.monotonic()
    with open(os.path.join(folder, ".error"), "wb+") as error:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=error,
            preexec_fn=lambda: limit(seconds), start_new_session=True)
        killed = threading.Event()

        def kill():
            killed.set()
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

        timer = threading.Timer(seconds, kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = code = os.waitstatus_to_exitcode(status)
        error.seek(0)
        text = error.read(4000).decode("utf-8", "replace")
    os.remove(os.path.join(folder, ".error"))
    return Outcome(code, time.monotonic() - began, usage.ru_maxrss * 1024, killed.is_set(), text, seconds)


def play(kind, seed, number, folder):
    """Plays one case; what is wrong, or None."""
    draws = random.Random(f"{kind.name}-{seed}-{number}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    case = kind.case(draws, folder)
    seconds = getattr(kind, "seconds", SECONDS)
    outcome = run(case.command, case.folder, seconds)
    if outcome.hung:
        # A busy machine may be to blame: once more.
        outcome = run(case.command, case.folder, seconds)
    fault = outcome.fault or case.fault(outcome.code)
    for path, _, names in os.walk(folder):
        for name in names:
            if ".partial-" in name and fault is None:
                fault = f"left {os.path.relpath(os.path.join(path, name), folder)}"
    case.end()
    return fault, outcome, case


def self_test(work, fedsim):
    """The limits hold: programs that break each of them are found out, and one that breaks none is not."""
    programs = [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "signal 11"),
        ("import time; time.sleep(60)", f"it took longer than {SECONDS} s"),
        ("x = bytearray(1300 << 20); x[::4096] = b'1' * len(x[::4096])", "it needed"),
        ("import sys; sys.exit(5)", "exit code 5"), ("import sys; sys.exit(2)", None)]
    for program, expected in programs:
        fault = run([sys.executable, "-c", program], work).fault
        if (fault is None) != (expected is None) or not (fault or "").startswith(expected or ""):
            sys.exit(f"fuzz: self-test: found {fault}, expected {expected}")
    print("fuzz: the limits hold for five programs that are made for them")
    worlds_test(work, fedsim)


def worlds_test(work, fedsim):
    """A command whose bytes depend on a way of playing is found out."""
    wrong = os.path.join(work, "wrong")
    for way in ["--threads 3", "--compute eager", "--workers 2", "resume"]:
        with open(wrong, "w") as file:
            file.write(f'#!/bin/bash\n[[ " $* " = *" {way} "* ]] || exec "{fedsim}" "$@"\n"{fedsim}" "$@" && printf x >> b.h5\n')
        os.chmod(wrong, 0o755)
        folder = os.path.join(work, "self-test" + way.replace(" ", ""))
        kind = kinds.Worlds(wrong, folder)
        kind.paths = [path for path in kind.paths if path.endswith("smoke/phones.yaml")]
        kind.WAYS = [None if way == "resume" else way.split()] * 3
        # A kill may come before there is anything to resume, or too late.
        cases = range(40 if way == "resume" else 3)
        faults = (play(kind, 1, number, os.path.join(folder, "case"))[0] for number in cases)
        if not any(fault and "differing bytes" in fault for fault in faults):
            sys.exit(f"fuzz: self-test: {way}: expected differing bytes in one of {len(cases)} worlds")
    print("fuzz: four commands whose bytes depend on how they play are found out")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--fedsim", required=True)
    options.add_argument("--kind", choices=sorted(kinds.ALL))
    options.add_argument("--cases", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--case", type=int)
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--keep", default=".fuzz")
    options.add_argument("--summary", help="where a line of JSON is written: what was tried and found")
    options.add_argument("--self-test", action="store_true")
    given = options.parse_args()
    os.makedirs(given.keep, exist_ok=True)
    # A folder of this process alone: several may run side by side.
    work = os.path.abspath(tempfile.mkdtemp(prefix="work-", dir=given.keep))
    try:
        found = fuzz(given, work)
    finally:
        if given.case is None:
            shutil.rmtree(work, ignore_errors=True)
        else:
            print(f"fuzz: the case is in {work}")
    sys.exit(1 if found else 0)


def fuzz(given, work):
    """Plays the cases that are asked for; the numbers of those that failed."""
    if given.self_test:
        self_test(work, os.path.abspath(given.fedsim))
        return []
    kind = kinds.ALL[given.kind](os.path.abspath(given.fedsim), work)
    numbers = [given.case] if given.case is not None else range(given.first, given.first + given.cases)
    codes, faults, found, slowest, largest = {}, [], {}, 0.0, 0
    lock = threading.Lock()
    began = time.monotonic()

    def one(number):
        nonlocal slowest, largest
        folder = os.path.join(work, f"case-{number}")
        fault, outcome, case = play(kind, given.seed, number, folder)
        with lock:
            codes[outcome.code] = codes.get(outcome.code, 0) + 1
            slowest, largest = max(slowest, outcome.seconds), max(largest, outcome.bytes)
            if fault:
                faults.append(number)
                name = ("hangs" if outcome.hung or " hangs: " in fault else "crashes" if outcome.code < 0 else "memory" if outcome.bytes > BYTES
                        else "differences" if "bytes" in fault else "other")
                found[name] = found.get(name, 0) + 1
                print(f"fuzz: {kind.name} {given.seed} {number}: {fault}: {' '.join(case.command[1:])}", flush=True)
                print(f"      {outcome.error.strip()[:300]}")
        if fault:
            kept = os.path.join(given.keep, f"{kind.name}-{given.seed}-{number}")
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept, symlinks=True)
        if given.case is None:
            shutil.rmtree(folder, ignore_errors=True)

    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(one, numbers))
    counts = ", ".join(f"{codes[code]} ended with {code}" for code in sorted(codes))
    print(f"fuzz: {kind.name}: {len(numbers)} cases of seed {given.seed}: {counts}; slowest {slowest:.1f} s, "
          f"largest {largest >> 20} MiB, {len(faults)} failed, {time.monotonic() - began:.0f} s")
    if given.summary:
        with open(given.summary, "w") as file:
            json.dump({"cases": len(numbers), "seconds": time.monotonic() - began, **found}, file)
    return faults


main()
