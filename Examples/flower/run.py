"""Plays the Flower program of this folder on the phones of scenario.yaml."""
import pathlib

import pyfedsim.flower
from client_app import app as client_app
from server_app import app as server_app

played = pyfedsim.flower.run(
    server_app, client_app, pathlib.Path(__file__).parent / "scenario.yaml",
    run_config={"num-server-rounds": 5, "local-epochs": 2, "batch-size": 10},
)
rounds = played.result.table("rounds")
print(rounds[["openedAt", "closedAt", "outcome", "cohort"]])
