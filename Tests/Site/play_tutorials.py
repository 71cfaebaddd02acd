"""Plays the commands of the tutorials and compares what they print with the pages.

    play_tutorials.py FEDSIM [--write] [PAGE …]

A tutorial is a page in docs/tutorials. Each is played from its first line to its last in an empty folder: a block with a
title (```yaml title="my.yaml") is written as that file, a block ```sh is run by bash, and a block ```text after it holds
what it prints, the times of the host left out. --write writes what was printed into the pages. The Python of this script
needs numpy, h5py and pandas, as the classes of a policy run in it. Exit code 1 names each block that differs.
"""
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.M | re.S)
HOST = [
    (re.compile(r"\d[\d.,]* s \([\d,]+ a second\)"), "… s (… a second)"),
    (re.compile(r"(wrote \S+\.zip: )[\d,]+ bytes"), r"\1… bytes"),
    (re.compile(r"(\d+ worlds? in )\d[\d.]* \w+"), r"\1… s"),
]


def steady(text):
    for pattern, instead in HOST:
        text = pattern.sub(instead, text)
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def play(page, program):
    """The page with what its commands print, and what differs."""
    text = page.read_text("utf-8")
    faults, written, last, printed = [], [], 0, None
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder, "work")
        place.mkdir()
        pathlib.Path(folder, "bin").mkdir()
        pathlib.Path(folder, "bin/fedsim").symlink_to(program)
        environment = os.environ | {
            "PATH": f"{folder}/bin:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "python"), "HOME": folder,
            "FEDSIM_PYTHON": sys.executable, "PYTHONDONTWRITEBYTECODE": "1",
        }
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            if block["title"]:
                (place / block["title"]).write_text(block["text"], "utf-8")
            elif block["language"] == "sh":
                if printed:
                    faults.append(f"{page}:{line}: the block before this one prints what the page does not show")
                done = subprocess.run(
                    ["bash", "-c", block["text"]], cwd=place, env=environment, stdin=subprocess.DEVNULL, text=True,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
                printed = steady(done.stdout)
                if done.returncode > 1 and f"exit code {done.returncode}" not in text[block.end():block.end() + 2000]:
                    faults.append(f"{page}:{line}: exit code {done.returncode}: {printed}")
            elif block["language"] == "text" and printed is not None:
                if block["text"] != printed:
                    shown = block["text"].splitlines()
                    difference = list(difflib.unified_diff(shown, printed.splitlines(), "page", "printed", lineterm="", n=0))
                    faults.append(f"{page}:{line}: other output:\n" + "\n".join("  " + one for one in difference[2:]))
                written += [text[last:block.start("text")], printed]
                last = block.end("text")
                printed = None
        if printed:
            faults.append(f"{page}: the last block prints what the page does not show: {printed}")
    return "".join(written) + text[last:], faults, len(BLOCK.findall(text))


def main():
    arguments = [one for one in sys.argv[1:] if one != "--write"]
    program = pathlib.Path(arguments[0]).resolve()
    pages = [pathlib.Path(one) for one in arguments[1:]] or sorted(ROOT.glob("docs/tutorials/*.md"))
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for page, (text, faults, blocks) in zip(pages, pool.map(lambda one: play(one, program), pages)):
            if "--write" in sys.argv:
                page.write_text(text, "utf-8")
            print(f"tutorials: {page.name}: {blocks} blocks, {len(faults)} faults")
            for fault in faults:
                print(fault, file=sys.stderr)
            bad += len(faults)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
