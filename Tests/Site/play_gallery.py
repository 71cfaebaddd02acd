"""Makes the figures of docs/gallery.md by the commands on the page, and compares them with the files.

    play_gallery.py FEDSIM [--write] [--all | --quickstart RESULT.h5]

A block ```sh is run in a temporary folder with the project's scenarios; its figures must have the bytes of the project's.
The blocks of quickstart, which take half a minute, are left out, or with --quickstart take the result of a run that was
made before. --write writes the figures instead. Exit code 1 names each figure that differs.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURE = re.compile(r"--output (docs/\S+\.svg)")


def blocks(result):
    """The blocks to play: the quick ones, all, or that of quickstart without its run."""
    for block in re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs/gallery.md").read_text("utf-8"), re.M | re.S):
        if "quickstart" not in block:
            if result is None or result == "":
                yield block
        elif result is not None:
            lines = block.splitlines()
            if result:
                lines[0] = f"cp '{result}' results/quickstart.h5"
            yield "\n".join(lines)


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    result = "" if "--all" in sys.argv else None
    if "--quickstart" in sys.argv:
        result = str(pathlib.Path(sys.argv[sys.argv.index("--quickstart") + 1]).resolve())
    faults, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        for name in ("bin", "results", "docs/figures"):
            (place / name).mkdir(parents=True)
        (place / "scenarios").symlink_to(ROOT / "scenarios")
        (place / "bin/fedsim").symlink_to(program)
        environment = os.environ | {"PATH": f"{place}/bin:{os.environ['PATH']}"}
        for block in blocks(result):
            done = subprocess.run(
                ["bash", "-ec", block], cwd=place, env=environment, stdin=subprocess.DEVNULL, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
            if done.returncode:
                faults.append(f"docs/gallery.md: exit code {done.returncode}: {block}{done.stdout}")
            for figure in FIGURE.findall(block):
                count += 1
                made, kept = place / figure, ROOT / figure
                if "--write" in sys.argv and made.exists():
                    shutil.copyfile(made, kept)
                if not made.exists() or not kept.exists() or made.read_bytes() != kept.read_bytes():
                    faults.append(f"{figure} differs from what the commands on docs/gallery.md make")
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"gallery: {count} figures, {len(faults)} faults")
    sys.exit(1 if faults or not count else 0)


if __name__ == "__main__":
    main()
