"""The requests of a run, sent to a server that was written apart from FedSim."""
import json
import pathlib
import subprocess
import sys

import flask
import numpy as np
import pytest
from backend import Backend, Serving
from conftest import COMMAND

import pyfedsim
from pyfedsim.__main__ import main

SCENARIO = pathlib.Path(__file__).with_name("requests.yaml")


def lines(folder, *rows):
    """A file of requests, written by hand."""
    path = folder / "lines.jsonl"
    head = {"format": "fedsim-requests", "formatVersion": 1}
    path.write_text("".join(json.dumps(row) + "\n" for row in (head, *rows, {"requests": len(rows)})))
    return path


def line(time, verb, path, body=None, answer=None, device="phones/0", request="x", **rest):
    headers = rest.pop("headers", {"Content-Type": "application/json"} if body else {})
    return {
        "time": time, "device": device, "request": request, "verb": verb, "path": path, "headers": headers,
        "body": body, "delivered": True, "answer": answer and {"time": time, "status": 200, "body": answer}, **rest,
    }


@pytest.fixture(scope="session")
def exported(tmp_path_factory):
    """A run's requests, and its last model as the automatic backend would answer."""
    folder = tmp_path_factory.mktemp("requests")
    for words in (
        ["run", SCENARIO, "--quiet", "--output", folder / "r.h5"],
        ["export", folder / "r.h5", "--to", folder / "r.jsonl"],
        ["export", folder / "r.h5", "--to", folder / "model.json"],
    ):
        subprocess.run([COMMAND, *words], check=True, stdout=subprocess.DEVNULL)
    return folder


def test_another_server_ends_with_the_same_model_and_as_many_versions(exported):
    backend = Backend()
    with Serving(backend.app()) as server:
        replayed = pyfedsim.replay_requests(exported / "r.jsonl", server.url)
    model = json.loads((exported / "model.json").read_text())
    assert model["version"] >= 10
    assert backend.version == model["version"]
    assert backend.weights.keys() == model["weights"].keys()
    for name, values in model["weights"].items():
        np.testing.assert_allclose(backend.weights[name], values, rtol=0, atol=1e-6)
    assert len(replayed.sent) == sum(backend.asked.values())
    assert replayed.skipped > 0
    assert replayed.differing == []


def test_a_server_that_has_versions_already_hears_of_its_own(exported):
    backend = Backend(first=40)
    with Serving(backend.app()) as server:
        # Its answer to the first check says that its version 40 is the run's version 0.
        replayed = pyfedsim.replay_requests(exported / "r.jsonl", server.url)
    model = json.loads((exported / "model.json").read_text())
    assert backend.version == 40 + model["version"]
    assert replayed.differing == []


def test_answers_that_differ_are_a_table_and_exit_code_1(exported, capsys):
    with Serving(Backend(token="good").app()) as server:
        assert main(["replay", str(exported / "r.jsonl"), server.url]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[1].split() == ["line", "time", "device", "request", "simulated", "real"]
    assert out[2].split()[-2:] == ["200", "401"]


def test_the_command_works_where_all_answers_agree(exported):
    with Serving(Backend().app()) as server:
        done = subprocess.run(
            [sys.executable, "-m", "pyfedsim", "replay", exported / "r.jsonl", server.url], capture_output=True, text=True,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("0 answered otherwise\n")


def test_no_server_stops_the_replay_with_its_address(exported, capsys):
    with Serving(Backend().app()) as server:
        url = server.url
    assert main(["replay", str(exported / "r.jsonl"), url]) == 3
    assert capsys.readouterr().err.startswith(f"stopped: no answer from {url}: GET /api/model/check")


def test_other_files_are_refused(tmp_path, capsys):
    (tmp_path / "a.jsonl").write_text('{"time": 1}\n')
    assert main(["replay", str(tmp_path / "a.jsonl"), "http://127.0.0.1:1"]) == 2
    assert "this is no file of `fedsim export" in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "none.jsonl"), "http://127.0.0.1:1"]) == 2
    assert main(["replay", str(lines(tmp_path)), "127.0.0.1:1"]) == 2


def test_names_keys_tokens_and_versions_of_the_server_take_the_place_of_simulated_ones(tmp_path):
    app, seen = flask.Flask(__name__), []

    @app.post("/model-centric/authenticate")
    def authenticate():
        return {"worker_id": "w/7", "access_token": "real"}

    @app.post("/model-centric/cycle-request")
    def cycle():
        seen.append(flask.request.get_json())
        return {"status": "accepted", "request_key": 99, "version": 5, "plans": {"training_plan": 3}}

    @app.get("/model-centric/get-model/<path:step>")
    def model(step):
        seen.append((step, flask.request.args.to_dict(), flask.request.headers.get("Authorization")))
        return {}

    path = lines(
        tmp_path,
        line(1, "POST", "/model-centric/authenticate", {}, {"worker_id": "worker-0-1", "access_token": "token-0-1"}),
        line(2, "POST", "/model-centric/cycle-request", {"worker_id": "worker-0-1", "model": "m", "list": [1]},
             {"request_key": "key-0-2", "version": 1, "plans": {"training_plan": "plan-1"}}),
        line(3, "GET", "/model-centric/get-model/worker-0-1?request_key=key-0-2&plan_id=plan-1&version=1",
             headers={"Authorization": "Bearer token-0-1"}),
        line(4, "GET", "/model-centric/get-model/x?version=2", headers={"Authorization": "Bearer other"}),
    )
    with Serving(app) as server:
        pyfedsim.replay_requests(path, server.url + "/", token="given")
    assert seen == [
        {"worker_id": "w/7", "model": "m", "list": [1]},
        ("w/7", {"request_key": "99", "plan_id": "3", "version": "5"}, "Bearer real"),
        ("x", {"version": "2"}, "Bearer given"),
    ]


def test_the_speed_says_how_long_to_wait(tmp_path):
    waits = []
    path = lines(tmp_path, line(100, "GET", "/"), line(160, "GET", "/"), line(400, "GET", "/"))
    with Serving(flask.Flask(__name__)) as server:
        pyfedsim.replay_requests(path, server.url, speed=60, sleep=waits.append)
    # The second is due a second after the first, the third five seconds after it; nothing has really waited.
    assert waits == pytest.approx([1, 5], abs=0.5)
