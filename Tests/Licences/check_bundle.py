#!/usr/bin/env python3
"""Holds a bundle of `fedsim bundle` to RO-Crate 1.1, and its digests to hashlib.

    .venv-licences/bin/python Tests/Licences/check_bundle.py .build/release/fedsim

Run by `make licences`. The validator is roc-validator of PyPI, without the network: the one document that it asks for,
the context of RO-Crate 1.1, is that of the package rocrate. That it looks at all is shown by metadata that it must
refuse. Exit code 1 names what is wrong.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile
from importlib import resources

import requests
from rocrate_validator import models, services
from rocrate_validator.utils.http import HttpRequester

TABLE = "device,from,to\nphones/0,7200,7800\nphones/1,20000,21000\n"
SCENARIO = """\
name: bundled
stop: {after: 12 h}
task:
  data:
    source: {blobs: {classes: 3, features: 4, train: 80, test: 30}}
    partition: {iid: {clients: 4}}
  model: softmax
fleet:
  - name: phones
    count: 4
    background: {windows: {csv: data/w.csv}, processing: null}
server:
  trigger: {threshold: 2}
expect:
  - rounds: {atLeast: 0}
"""


CONTEXT = resources.files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes()


def answer(_, url, **options):
    """The context of RO-Crate 1.1, by rocrate 0.14; a later one has the context of a later version."""
    if url != json.loads(CONTEXT)["@id"]:
        raise RuntimeError(f"the validator asks for {url}")
    response = requests.Response()
    response.status_code, response._content, response.url = 200, CONTEXT, url
    response.headers["Content-Type"] = "application/ld+json"
    return response


HttpRequester.get = answer


def problems(bundle, cache):
    """What the validator says of a bundle that RO-Crate 1.1 does not allow."""
    severity = models.Severity.REQUIRED
    result = services.validate({
        "rocrate_uri": str(bundle), "profile_identifier": "ro-crate-1.1", "requirement_severity": severity,
        "offline": True, "cache_path": cache / "cache",
    })
    return [f"{issue.check.identifier}: {issue.message}" for issue in result.get_issues(severity)]


def rewritten(bundle, target, change):
    """A copy of a bundle with other metadata."""
    with zipfile.ZipFile(bundle) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            contents = old.read(name)
            if name == "ro-crate-metadata.json":
                tree = json.loads(contents)
                change({entity["@id"]: entity for entity in tree["@graph"]})
                contents = json.dumps(tree).encode()
            new.writestr(name, contents)


def main(fedsim):
    faults = []

    def expect(holds, what):
        if not holds:
            faults.append(what)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.mkdir(folder / "data")
        (folder / "s.yaml").write_text(SCENARIO)
        (folder / "data/w.csv").write_text(TABLE)

        def run(*words):
            done = subprocess.run([fedsim, *words], cwd=folder, capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

        expect(run("run", "s.yaml", "-q", "-o", "r.h5")[0] == 0, "the scenario does not run")
        code, said = run("bundle", "r.h5", "-o", "plain.zip")
        expect(code == 0, f"fedsim bundle: exit code {code}: {said}")
        code, said = run(
            "bundle", "r.h5", "-o", "full.zip", "--author", "Ada", "--author", "Émile",
            "--licence", "https://spdx.org/licenses/CC-BY-4.0", "--date", "2026-11-27")
        expect(code == 0, f"fedsim bundle with all options: exit code {code}: {said}")
        for bundle in (folder / "plain.zip", folder / "full.zip"):
            found = problems(bundle, folder)
            expect(not found, f"{bundle.name} is no RO-Crate 1.1: {found}")
            with zipfile.ZipFile(bundle) as archive:
                expect(archive.testzip() is None, f"{bundle.name} is a damaged zip file")
                manifest = json.loads(archive.read("bundle.json"))
                for member in manifest["members"]:
                    contents = archive.read(member["name"])
                    expect(
                        (member["sha256"], member["bytes"]) == (hashlib.sha256(contents).hexdigest(), len(contents)),
                        f"{bundle.name}: the digest of {member['name']} is wrong")
                expect(archive.read("result.h5") == (folder / "r.h5").read_bytes(), "another result is in the bundle")
                listed = {member["name"] for member in manifest["members"]} | {"bundle.json"}
                expect(listed == set(archive.namelist()), f"{bundle.name}: the members are not those listed")
            expect(
                manifest["dataFiles"] == [{
                    "path": "data/w.csv", "sha256": hashlib.sha256(TABLE.encode()).hexdigest(), "bytes": len(TABLE)}],
                f"{bundle.name}: the data files are {manifest['dataFiles']}")
            expect(len(manifest["claims"]) == 1, f"{bundle.name}: the claims are {manifest['claims']}")
            code, said = run("replay", bundle.name)
            expect(code == 0 and f"same bytes: {bundle.name}" in said, f"fedsim replay: exit code {code}: {said}")
        # The validator must refuse what is wrong.
        for what, change in [
            ("no date", lambda entities: entities["./"].pop("datePublished")),
            ("no conformsTo", lambda entities: entities["ro-crate-metadata.json"].pop("conformsTo")),
            ("no licence", lambda entities: entities["./"].pop("license")),
        ]:
            rewritten(folder / "plain.zip", folder / "wrong.zip", change)
            expect(problems(folder / "wrong.zip", folder), f"the validator accepts metadata with {what}")
            code, said = run("replay", "wrong.zip")
            expect(
                code == 2 and "ro-crate-metadata.json: " in said and "altered" in said,
                f"fedsim replay accepts altered metadata: exit code {code}: {said}")
    for fault in faults:
        print(f"bundle: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print("bundle: RO-Crate 1.1 by roc-validator; digests by hashlib; three wrong ones refused")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
