"""The examples of docs/python.md run, in the order of the page."""
import pathlib
import re

import pytest
from conftest import COMMAND, ROOT
from small import small

PAGE = ROOT / "docs" / "python.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the pages are not next to the package")
def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    import json

    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    drive = [block for block in blocks if "pyfedsim.trackers." not in block]  # test_trackers.py has those
    monkeypatch.setenv("FEDSIM", COMMAND)
    monkeypatch.chdir(tmp_path)
    section = {"grid": {"server.trigger.threshold": [2, 3]}, "replicas": 2}
    for name in ("night", "threshold"):
        expect = [{"versions": {"atLeast": 1}}]
        pathlib.Path(f"{name}.yaml").write_text(json.dumps(small(name=name, sweep=section, expect=expect)))
    names: dict[str, object] = {}
    for block in drive:
        exec(compile(block, str(PAGE), "exec"), names)
    assert len(drive) >= 3
