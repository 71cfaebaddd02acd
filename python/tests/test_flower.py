"""Flower programs, unmodified, on the virtual clock. Skipped where flwr is not installed."""
from __future__ import annotations

import gc
import hashlib
import warnings
from typing import Any

import numpy as np
import pytest

import pyfedsim
from conftest import COMMAND

pytest.importorskip("flwr", reason="flwr is not installed")

import pyfedsim.flower  # noqa: E402

import flower_app  # noqa: E402
from pyfedsim._flower_grid import Sent  # noqa: E402
from flwr.app import Message, RecordDict  # noqa: E402
from flwr.serverapp import ServerApp  # noqa: E402
from flwr.serverapp.strategy import FedAvg  # noqa: E402

# 20 samples in batches of 10, two epochs: four batches, 4 s on a fast phone and 40 s on the slow one. Messages have
# 1000 B (1 ms), and the model is 152 B as NumPy writes six numbers (0.152 ms). A way takes 10 ms.
#
# The ServerApp begins at 1 s, when all are connected. Its messages are there at 1.011; a phone asks for the model
# (1.022), has it at 1.033152, trains until 5.033152, and its reply has arrived at 5.044304; the slow one's at 41.044304.
SCENARIO: dict[str, Any] = {
    "name": "flower", "seed": 3, "stop": {"after": "1 d"}, "server": {"messageBytes": "1000 B"},
    "task": {"flower": {"samples": 20, "batchSize": 10, "epochs": 2}},
    "fleet": [
        {
            "name": name, "count": count, "profile": "flower-node", "firstClient": first,
            "background": {"windows": {"fixed": "open"}}, "compute": {"perBatch": batch},
            "network": {"wifi": {"down": "8 Mbit/s", "up": "8 Mbit/s", "roundTrip": "20 ms"}},
        }
        for name, count, first, batch in (("fast", 3, 0, "1 s"), ("slow", 1, 3, "10 s"))
    ],
}


@pytest.fixture(autouse=True)
def command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDSIM", COMMAND)


def play(server_app: ServerApp, client_app: Any = flower_app.app, **more: Any) -> pyfedsim.flower.Played:
    more.setdefault("scenario", SCENARIO)
    more.setdefault("workers", 0)
    more.setdefault("progress", False)
    more.setdefault("begin_at", 1.0)
    return pyfedsim.flower.run(server_app, client_app, **more)


def digest(played: pyfedsim.flower.Played) -> tuple[str, str]:
    """The hash of the weights, and the digest of the events."""
    arrays = played.flower.arrays.to_numpy_ndarrays()
    weights = hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()
    return weights, str(pyfedsim.attributes(played.result)["eventDigest"])


@pytest.mark.parametrize("name", flower_app.STRATEGIES)
def test_a_strategy_has_the_same_weights_and_events_twice(name: str) -> None:
    first, second = (
        digest(play(flower_app.server(flower_app.STRATEGIES[name]()), run_config={"shuffle": True}, workers=workers))
        for workers in (0, 2))
    assert first == second


def test_legacy_clients_have_the_same_weights_and_events_twice() -> None:
    found = []
    for workers in (0, 2):
        finals: list[Any] = []
        played = play(flower_app.legacy_server(finals), flower_app.legacy_app, workers=workers)
        assert type(played.flower).__name__ == "History" and len(played.flower.losses_distributed) == 3
        found.append((finals, pyfedsim.attributes(played.result)["eventDigest"]))
        # Half of four: two replies a round, no failure.
        assert [final[:2] for final in finals] == [(2, 0)] * 3
    assert found[0] == found[1]


def rounds(played: pyfedsim.flower.Played) -> list[tuple[float, float]]:
    table = played.result.table("rounds")
    return [(round(a, 6), round(b, 6)) for a, b in zip(table["openedAt"], table["closedAt"], strict=True)]


def test_a_round_lasts_as_long_as_its_slowest_node() -> None:
    played = play(flower_app.server(FedAvg(fraction_evaluate=0.0), rounds=1))
    assert rounds(played)[0] == (0.0, 41.044304)
    assert played.flower.train_metrics_clientapp[1]["calls"] == 1
    assert "flwr 1.42" in str(pyfedsim.attributes(played.result)["foreign"])


def test_the_weights_are_those_of_a_loop_in_numpy() -> None:
    played = play(flower_app.server(FedAvg(fraction_evaluate=0.0), rounds=3))
    weights = np.zeros(flower_app.FEATURES, np.float32)
    order = np.concatenate([np.arange(flower_app.SAMPLES)] * 2)
    for _ in range(3):
        weights = np.mean([flower_app.fit(weights, partition, order) for partition in range(4)], axis=0, dtype=np.float32)
    assert np.allclose(played.flower.arrays.to_numpy_ndarrays()[0], weights, rtol=1e-6, atol=1e-7)


def test_a_virtual_timeout_drops_stragglers() -> None:
    class Counting(FedAvg):
        def aggregate_train(self, server_round: int, replies: Any) -> Any:
            replies = list(replies)
            seen.append([reply.metadata.src_node_id for reply in replies])
            return super().aggregate_train(server_round, replies)

    seen: list[list[int]] = []
    played = play(flower_app.server(Counting(fraction_evaluate=0.0), rounds=2, timeout=20))
    assert [sorted(nodes) for nodes in seen] == [[2, 3, 4], [2, 3, 4]]
    assert rounds(played)[:2] == [(0.0, 21.0), (21.0, 41.0)]


def test_a_node_that_goes_offline_fails_after_60_s() -> None:
    class Noting(FedAvg):
        def aggregate_train(self, server_round: int, replies: Any) -> Any:
            replies = list(replies)
            failed.extend((reply.error.code, reply.metadata.src_node_id) for reply in replies if reply.has_error())
            return super().aggregate_train(server_round, replies)

    failed: list[tuple[int, int]] = []
    gone = {"at": "10 s", "device": "slow/0", "action": "dropLink", "lasting": "1 h"}
    played = play(flower_app.server(Noting(fraction_evaluate=0.0), rounds=1), set={"inject": [gone]})
    assert failed == [(5, 5)]
    assert rounds(played)[0] == (0.0, 70.0)


def test_a_legacy_timeout_drops_stragglers() -> None:
    finals: list[Any] = []
    server_app = flower_app.legacy_server(finals, rounds=2, timeout=20.0)
    play(server_app, flower_app.legacy_app, seed=4)
    assert all(results + failures == 2 for results, failures, _ in finals)
    assert any(failures for _, failures, _ in finals)


def test_another_number_of_examples_is_a_warning_that_names_the_node() -> None:
    with pytest.warns(pyfedsim.ScenarioWarning, match=r"node 3 \(fast/1\): the reply has num-examples 21, and"):
        played = play(flower_app.server(FedAvg()), run_config={"more": 1})
    assert len(played.result.warnings) == 1


def test_samples_may_be_a_function_of_the_partition() -> None:
    # Nodes have 20, 30, 40 and 50 samples: the last has five batches an epoch, of 10 s.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        played = play(
            flower_app.server(FedAvg(fraction_evaluate=0.0), rounds=1), samples=lambda part: 20 + 10 * part, partitions=4)
    assert rounds(played)[0] == (0.0, 101.044304)


def test_a_missing_statement_is_an_error_with_the_name_of_the_key() -> None:
    with pytest.raises(pyfedsim.ScenarioError, match="samples"):
        play(flower_app.server(FedAvg()), scenario={**SCENARIO, "task": {"flower": {"batchSize": 1, "epochs": 1}}})


@pytest.mark.parametrize(("key", "value", "word"), [
    ("interruption", {"onExpiry": "checkpoint"}, "onExpiry: checkpoint.* asks for a trainer"),
    ("interruption", {"onExpiry": "submitPartial"}, "onExpiry: submitPartial.* asks for a trainer"),
    ("protocol", {"stream": False}, "profile: flower-node"),
    ("hardware", "iphone-15", "compute"),
])
def test_what_a_client_cannot_do_is_an_error_that_names_the_setting(key: str, value: Any, word: str) -> None:
    group = {**SCENARIO["fleet"][0], key: value}
    if key == "hardware":
        del group["compute"]
    with pytest.raises(pyfedsim.ScenarioError, match=word):
        play(flower_app.server(FedAvg()), scenario={**SCENARIO, "fleet": [group]})


@pytest.mark.parametrize("workers", [0, 1])
def test_a_client_that_raises_is_named_with_its_round_and_traceback(workers: int) -> None:
    with pytest.raises(pyfedsim.flower.ClientError, match="node 4 .fast/2., round 1: ZeroDivisionError: a fault") as raised:
        play(flower_app.server(FedAvg()), run_config={"fault": 2}, workers=workers)
    assert "flower_app.py" in raised.value.traceback


def test_a_client_that_raises_may_be_answered_for_as_flower_does() -> None:
    played = play(flower_app.server(FedAvg(), rounds=1), run_config={"fault": 2}, on_error="reply")
    assert played.is_finished and len(played.flower.train_metrics_clientapp) == 1


def test_a_process_that_dies_is_an_error() -> None:
    with pytest.raises(pyfedsim.flower.ClientError, match="node 2 .fast/0.*ended with exit code 4"):
        play(flower_app.server(FedAvg()), run_config={"dies": 0}, workers=2)


def test_a_server_that_raises_raises_here() -> None:
    server_app = ServerApp()

    @server_app.main()
    def main(grid: Any, context: Any) -> None:
        raise LookupError("a fault of the server")

    with pytest.raises(LookupError, match="a fault of the server"):
        play(server_app)


def test_messages_may_be_pushed_and_pulled_while_virtual_time_passes() -> None:
    import time

    seen: list[Any] = []
    server_app = ServerApp()

    @server_app.main()
    def main(grid: Any, context: Any) -> None:
        time.sleep(1)
        nodes = list(grid.get_node_ids())
        numbers = grid.push_messages([Message(RecordDict(), node, "query") for node in nodes])
        seen.extend([nodes, list(grid.pull_messages(numbers))])
        time.sleep(1)
        seen.append([int(reply.content["metrics"]["partition"]) for reply in grid.pull_messages(numbers)])

    played = play(server_app)
    assert seen == [[2, 3, 4, 5], [], [0, 1, 2, 3]]
    assert played.result.summary["simulatedSeconds"] == 3


def test_a_run_that_ends_before_its_program_says_so() -> None:
    with pytest.warns(pyfedsim.ScenarioWarning, match="stop.after"):
        played = play(flower_app.server(FedAvg(), rounds=100), set={"stop.after": "100 s"})
    assert not played.is_finished and played.flower is None


def test_evaluations_are_in_the_result() -> None:
    played = play(flower_app.server(FedAvg(), rounds=2))
    table = played.result.table("evaluations")
    assert list(table["round"]) == [1, 2] and list(table["examples"]) == [80, 80]
    for number in (1, 2):
        stated = played.flower.evaluate_metrics_clientapp[number]["eval_loss"]
        assert table["loss"][number - 1] == pytest.approx(stated)


def test_what_a_node_keeps_goes_with_it_from_message_to_message() -> None:
    played = play(flower_app.server(FedAvg(), rounds=3), workers=2)
    assert [played.flower.train_metrics_clientapp[number]["calls"] for number in (1, 2, 3)] == [1, 2, 3]


@pytest.mark.parametrize("workers", [0, 2])
def test_messages_of_earlier_rounds_are_not_kept(workers: int) -> None:
    class Watching(FedAvg):
        def aggregate_train(self, server_round: int, replies: Any) -> Any:
            gc.collect()
            kept.append(sum(type(value) is Sent for value in gc.get_objects()))
            return super().aggregate_train(server_round, replies)

    kept: list[int] = []
    play(flower_app.server(Watching(fraction_evaluate=0.0), rounds=4), workers=workers)
    assert len(kept) == 4 and max(kept) <= 4
