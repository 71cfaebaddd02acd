"""Spoils exports on their way in many ways; check_export.py must find each.

    python test_check_export.py FEDSIM RESULT.h5
"""
import contextlib
import io
import os
import pathlib
import stat
import sys
import tempfile

import check_export

# Each spoils what an export wrote at `target`, where it is of that kind.
SPOILS = (
    ("csv", "digit", """
path = target / "versions.csv"
lines = path.read_text().splitlines()
fields = lines[2].split(",")
column = lines[0].split(",").index("trainingLoss")
fields[column] = repr(float(fields[column]) * (1 + 2**-52))
lines[2] = ",".join(fields)
path.write_text("\\n".join(lines) + "\\n")
""", "versions.csv: trainingLoss differs"),
    ("csv", "row", """
path = target / "rounds.csv"
path.write_text("\\n".join(path.read_text().splitlines()[:-1]) + "\\n")
""", "rounds.csv"),
    ("csv", "word", """
path = target / "rounds.csv"
path.write_text(path.read_text().replace("published", "skipped", 1))
""", "outcome differs"),
    ("csv", "unit", """
path = target / "schema.csv"
path.write_text(path.read_text().replace(",byte,", ",1,", 1))
""", "schema.csv"),
    ("csv", "file", "(target / 'hours.csv').unlink()", "hours.csv"),
    ("csv", "text", "(target / 'scenario.yaml').write_text('')", "the text scenario"),
    ("npz", "bit", """
import numpy
with numpy.load(target) as archive:
    arrays = dict(archive)
arrays["versions/publishedAt"][1] += 1e-6
numpy.savez(target, **arrays)
""", "versions/publishedAt has other values"),
    ("npz", "type", """
import numpy
with numpy.load(target) as archive:
    arrays = dict(archive)
arrays["rounds/outcome"] = arrays["rounds/outcome"].astype("i8")
numpy.savez(target, **arrays)
""", "rounds/outcome has other values"),
    ("safetensors", "bit", """
data = bytearray(target.read_bytes())
data[-4] ^= 1
target.write_bytes(data)
""", "has other values"),
    ("json", "version", """
target.write_text(target.read_text().replace('"version": ', '"version": 1', 1))
""", "the version"),
    ("json", "weight", """
text = target.read_text()
at = text.index("[") + 1
target.write_text(text[:at] + "0.5" + text[text.index(",", at):])
""", "has other values"),
)

WRAPPER = """#!{python}
import pathlib, subprocess, sys
done = subprocess.run([{command!r}, *sys.argv[1:]])
target = pathlib.Path(sys.argv[sys.argv.index("--to") + 1])
if done.returncode == 0 and ({kind!r} == "csv" if target.is_dir() else target.name.endswith("." + {kind!r})):
    exec({code!r})
sys.exit(done.returncode)
"""


def complaint(command, result):
    """What check_export says, None if it says that all is well."""
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        code = check_export.main([command, result])
    return said.getvalue() if code == 1 else None


def main(command, result):
    command = os.path.abspath(command)
    if complaint(command, result) is not None:
        sys.exit(f"test_check_export: {result} should pass: {complaint(command, result)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, (kind, name, code, expected) in enumerate(SPOILS):
            wrapper = pathlib.Path(folder, f"fedsim-{number}")
            wrapper.write_text(WRAPPER.format(python=sys.executable, command=command, kind=kind, code=code))
            wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
            said = complaint(str(wrapper), result)
            if said is None or expected not in said:
                sys.exit(f"test_check_export: {kind}, {name}: expected “{expected}”, got: {said}")
    print(f"test_check_export: {len(SPOILS)} spoilt exports found")


if __name__ == "__main__":
    main(*sys.argv[1:])
