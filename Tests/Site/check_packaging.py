#!/usr/bin/env python3
"""Holds the files of packaging/ to each other and to the project, and prints their commands.

    check_packaging.py               check; exit code 1 names each fault
    check_packaging.py --commands    print what the Dockerfile runs, a command per line, for a bare Debian

hadolint and shellcheck (of the environment of this script, from PyPI) check the Dockerfile and the scripts. The Apptainer
definition has the commands of the Dockerfile, the conda recipe the version and the dependencies of the Python package.
"""
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "packaging"
BIN = pathlib.Path(sys.executable).parent


def joined(text):
    return [re.sub(r"\s+", " ", line).strip() for line in re.sub(r"\\\n", " ", text).splitlines() if line.strip()]


def docker_commands():
    lines = joined((FOLDER / "Dockerfile").read_text("utf-8"))
    return [line.removeprefix("RUN ") for line in lines if line.startswith("RUN ")]


def sections(text):
    """The sections of an Apptainer definition."""
    parts = re.split(r"^%(\w+)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def lint(program, *words, text=None):
    done = subprocess.run([str(BIN / program), *words], capture_output=True, text=True, input=text)
    lines = (done.stdout + done.stderr).splitlines() if done.returncode else []
    return [f"{program}: {line}" for line in lines if line.strip()]


def apptainer_faults():
    found = sections((FOLDER / "apptainer.def").read_text("utf-8"))
    if joined(found["post"]) != docker_commands():
        yield "packaging/apptainer.def: %post has other commands than the Dockerfile"
    for name in ("post", "environment", "runscript", "test"):
        yield from lint("shellcheck", "--shell=sh", "--exclude=SC2292", "-", text=found[name])


def conda_faults():
    import jinja2
    import yaml

    project = tomllib.loads((ROOT / "python/pyproject.toml").read_text("utf-8"))["project"]
    recipe = yaml.safe_load(jinja2.Template((FOLDER / "conda/meta.yaml").read_text("utf-8")).render(PYTHON="python"))
    if recipe["package"] != {"name": project["name"], "version": project["version"]}:
        name = f"{project['name']} {project['version']}"
        yield f"packaging/conda/meta.yaml: {recipe['package']}, the Python package is {name}"
    runs = {one.replace(" ", "") for one in recipe["requirements"]["run"]} - {"__glibc>=2.35"}
    wanted = set(project["dependencies"]) | {f"python{project['requires-python']}"}
    if runs != wanted:
        yield f"packaging/conda/meta.yaml: {sorted(runs ^ wanted)} in one of recipe and pyproject.toml only"


def main():
    if sys.argv[1:] == ["--commands"]:
        print("\n".join(docker_commands()))
        return
    faults = lint("hadolint", "--ignore=DL3008", str(FOLDER / "Dockerfile"))
    faults += lint("shellcheck", *map(str, sorted(FOLDER.glob("**/*.sh"))))
    faults += [*apptainer_faults(), *conda_faults()]
    for path in ("Dockerfile", "apptainer.def", "conda/meta.yaml"):
        if "Not built here" not in (FOLDER / path).read_text("utf-8"):
            faults.append(f"packaging/{path} does not say whether it was built")
    for one in faults:
        print(one, file=sys.stderr)
    print(f"packaging: 4 files, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
