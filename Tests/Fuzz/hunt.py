#!/usr/bin/env python3
"""Hunts for files, worlds and moments that break the command, and keeps a log (Scripts/hunt).

    hunt.py --fedsim PATH [--coverage PATH] [--minutes M] [--log FILE] [--part N] [--kinds K,K…]

Stretches of about a minute each, of all kinds in turn: those of fuzz.py, whose cases are functions of their numbers,
and with `--coverage` each reader of Tests/Fuzz/Readers under libFuzzer, from the corpus in .fuzz/corpus. No stretch begins
after M minutes. The log says where a kind continues the next time; what a commit tried of a kind is one line of it.
Exit code 1: something was found; it is kept in .fuzz.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import seeds

COLUMNS = ["commit", "kind", "first", "cases", "minutes", "crashes", "hangs", "memory", "accepts", "differences", "other"]
FOUND = COLUMNS[5:]
CASES = {"results": 150, "runs": 40, "scenarios": 200, "data": 150, "worlds": 10, "polls": 15}
REGRESSIONS = os.path.join(HERE, "regressions")


class Log:
    """What was tried, a line for a commit and a kind."""

    def __init__(self, path):
        self.path, self.rows = path, []
        if os.path.exists(path):
            with open(path, newline="") as file:
                self.rows = [{key: row[key] if key in ("commit", "kind") else float(row[key]) for key in COLUMNS}
                             for row in csv.DictReader(file)]

    def next(self, kind):
        """The first case of a kind that was not tried."""
        return int(max([row["first"] + row["cases"] for row in self.rows if row["kind"] == kind], default=0))

    def add(self, commit, kind, first, summary):
        """Adds a stretch, and writes the log whole."""
        row = next((row for row in self.rows if (row["commit"], row["kind"]) == (commit, kind)), None)
        if row is None:
            row = {"commit": commit, "kind": kind, "first": first, **dict.fromkeys(COLUMNS[3:], 0)}
            self.rows.append(row)
        row["cases"] += summary["cases"]
        row["minutes"] += summary["seconds"] / 60
        for name in FOUND:
            row[name] += summary.get(name, 0)
        with open(self.path + ".partial", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for row in self.rows:
                writer.writerow([
                    row[key] if key in ("commit", "kind") else f"{row[key]:.1f}" if key == "minutes" else int(row[key])
                    for key in COLUMNS])
        os.replace(self.path + ".partial", self.path)

    def total(self):
        """All that was ever tried, in a line."""
        sums = {name: sum(row[name] for row in self.rows) for name in COLUMNS[3:]}
        found = ", ".join(f"{int(sums[name])} {name}" for name in FOUND)
        return f"{int(sums['cases']):,} cases in {sums['minutes'] / 60:.1f} h; {found}"


def damage(options, kind, first):
    """A stretch of fuzz.py."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "summary.json")
        done = subprocess.run([
            sys.executable, os.path.join(HERE, "fuzz.py"), "--fedsim", options.fedsim, "--kind", kind, "--first", str(first),
            "--cases", str(max(1, CASES[kind] // options.part)), "--summary", path])
        if not os.path.exists(path):
            sys.exit(f"hunt: {kind}: fuzz.py ended with {done.returncode} before it had played its cases")
        with open(path) as file:
            return json.load(file)


def cover(options, reader, seconds):
    """A stretch of libFuzzer on a reader. What its tracing has found new stays in the corpus."""
    corpus, kept = f".fuzz/corpus/{reader}", ".fuzz/"
    os.makedirs(corpus, exist_ok=True)
    seeds.place(options.coverage, reader, corpus)
    began = time.monotonic()
    done = subprocess.run(
        [options.coverage, *seeds.LIMITS, f"-max_total_time={seconds}", f"-artifact_prefix={kept}{reader}-",
         "-print_final_stats=1", *seeds.dictionary(reader), corpus, *regressions(reader)],
        env={**os.environ, **seeds.ENVIRONMENT, "FUZZ_READER": reader}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        errors="replace")
    executed = re.findall(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    summary = {"cases": int(executed[-1]) if executed else 0, "seconds": time.monotonic() - began}
    if done.returncode:
        name = ("accepts" if "false accept: " in done.stderr else "hangs" if "ERROR: libFuzzer: timeout" in done.stderr else
                "memory" if "out-of-memory" in done.stderr else "crashes")
        summary[name] = 1
        print(f"hunt: {reader}: {name}:\n{done.stderr[-1500:]}", flush=True)
    covered = re.findall(r"cov: (\d+)", done.stderr)
    print(f"hunt: {reader}: {summary['cases']} inputs, {covered[-1] if covered else 0} edges, {summary['seconds']:.0f} s, "
          f"{'failed' if done.returncode else 'nothing found'}", flush=True)
    return summary


def regressions(reader):
    """The folder of inputs that once broke a reader, if there are any."""
    path = os.path.join(REGRESSIONS, reader)
    return [path] if os.path.isdir(path) else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fedsim", required=True)
    parser.add_argument("--coverage", help="the program of Tests/Fuzz/Readers; without it, readers are not traced")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--stretch", type=int, default=60, help="seconds of a stretch of libFuzzer")
    parser.add_argument("--part", type=int, default=1, metavar="N", help="an N-th of the cases in a stretch of fuzz.py")
    parser.add_argument("--log", default="docs/hunt.csv")
    parser.add_argument("--kinds", help="some kinds only")
    options = parser.parse_args()
    options.fedsim = os.path.abspath(options.fedsim)
    if options.coverage:
        options.coverage = os.path.abspath(options.coverage)
    kinds = list(CASES) + (list(seeds.READERS) if options.coverage else [])
    if options.kinds:
        unknown = set(options.kinds.split(",")) - set(kinds)
        if unknown:
            parser.error(f"--kinds: found {', '.join(sorted(unknown))}, expected some of {', '.join(kinds)}")
        kinds = options.kinds.split(",")
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True).stdout.strip()
    log, end, found, rounds = Log(options.log), time.monotonic() + 60 * options.minutes, 0, 0
    while rounds == 0 or time.monotonic() < end:
        rounds += 1
        for kind in kinds:
            if time.monotonic() >= end and rounds > 1:
                break
            first = log.next(kind)
            summary = damage(options, kind, first) if kind in CASES else cover(options, kind, options.stretch)
            log.add(commit or "unknown", kind, first, summary)
            found += sum(summary.get(name, 0) for name in FOUND)
    print(f"hunt: {'something was found, in .fuzz' if found else 'nothing was found'}; in all: {log.total()}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
