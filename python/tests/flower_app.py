"""Flower programs as its documentation writes them, which import only the public `flwr`."""
import os

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.client import NumPyClient
from flwr.clientapp import ClientApp
from flwr.server import ServerAppComponents, ServerConfig
from flwr.server.strategy import FedAvg as LegacyFedAvg
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import (
    DifferentialPrivacyServerSideFixedClipping, FedAdam, FedAvg, FedMedian, FedProx, Krum,
)

SAMPLES = 20
FEATURES = 6


def load(partition: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(partition)
    samples = random.normal(size=(SAMPLES, FEATURES)).astype(np.float32)
    return samples, samples @ np.arange(FEATURES, dtype=np.float32) + random.normal(size=SAMPLES).astype(np.float32)


def fit(weights: np.ndarray, partition: int, order: np.ndarray) -> np.ndarray:
    samples, targets = load(partition)
    for batch in order.reshape(-1, 10):
        error = samples[batch] @ weights - targets[batch]
        weights = weights - np.float32(0.05) * samples[batch].T @ error / np.float32(10)
    return weights


def loss(weights: np.ndarray, partition: int) -> float:
    samples, targets = load(partition)
    return float(((samples @ weights - targets) ** 2).mean())


app = ClientApp()


@app.train()
def train(msg: Message, context: Context) -> Message:
    partition = int(context.node_config["partition-id"])
    if context.run_config.get("fault") == partition:
        raise ZeroDivisionError("a fault of the client")
    if context.run_config.get("dies") == partition:
        os._exit(4)
    weights = msg.content["arrays"].to_numpy_ndarrays()[0]
    is_shuffled = bool(context.run_config.get("shuffle"))
    order = np.concatenate([np.random.permutation(SAMPLES) if is_shuffled else np.arange(SAMPLES) for _ in range(2)])
    weights = fit(weights, partition, order)
    calls = context.state.config_records.get("calls", ConfigRecord({"count": 0}))
    calls["count"] += 1
    context.state["calls"] = calls
    count = SAMPLES + 1 if context.run_config.get("more") == partition else SAMPLES
    metrics = MetricRecord({"train_loss": loss(weights, partition), "num-examples": count, "calls": calls["count"]})
    content = RecordDict({"arrays": ArrayRecord([weights]), "metrics": metrics})
    return Message(content=content, reply_to=msg)


@app.evaluate()
def evaluate(msg: Message, context: Context) -> Message:
    partition = int(context.node_config["partition-id"])
    weights = msg.content["arrays"].to_numpy_ndarrays()[0]
    metrics = MetricRecord({"eval_loss": loss(weights, partition), "num-examples": SAMPLES})
    return Message(content=RecordDict({"metrics": metrics}), reply_to=msg)


@app.query()
def query(msg: Message, context: Context) -> Message:
    return Message(RecordDict({"metrics": MetricRecord({"partition": context.node_config["partition-id"]})}), reply_to=msg)


def initial() -> ArrayRecord:
    return ArrayRecord([np.zeros(FEATURES, np.float32)])


STRATEGIES = {
    "FedAvg": lambda: FedAvg(fraction_train=0.5),
    "FedAdam": lambda: FedAdam(eta=0.1),
    "FedProx": lambda: FedProx(proximal_mu=0.1, fraction_train=0.5),
    "Krum": lambda: Krum(num_malicious_nodes=1),
    "FedMedian": lambda: FedMedian(),
    "DP": lambda: DifferentialPrivacyServerSideFixedClipping(FedAvg(), 0.1, 5.0, 4),
}


def server(strategy, rounds: int = 3, timeout: float = 3600, seen: list | None = None) -> ServerApp:
    """A ServerApp that runs a strategy."""
    server_app = ServerApp()

    @server_app.main()
    def main(grid: Grid, context: Context) -> None:
        strategy.start(grid=grid, initial_arrays=initial(), num_rounds=rounds, timeout=timeout)

    return server_app


class FlowerClient(NumPyClient):
    def __init__(self, partition: int) -> None:
        self.partition = partition

    def get_parameters(self, config):
        return [np.zeros(FEATURES, np.float32)]

    def fit(self, parameters, config):
        order = np.concatenate([np.random.permutation(SAMPLES) for _ in range(2)])
        return [fit(parameters[0], self.partition, order)], SAMPLES, {}

    def evaluate(self, parameters, config):
        return loss(parameters[0], self.partition), SAMPLES, {"accuracy": 0.5}


def client_fn(context: Context):
    return FlowerClient(int(context.node_config["partition-id"])).to_client()


legacy_app = ClientApp(client_fn=client_fn)


def legacy_server(finals: list, rounds: int = 3, timeout: float | None = None) -> ServerApp:
    """A ServerApp with a legacy strategy, which keeps the parameters of each round."""

    class Keeping(LegacyFedAvg):
        def aggregate_fit(self, server_round, results, failures):
            parameters, metrics = super().aggregate_fit(server_round, results, failures)
            finals.append((len(results), len(failures), parameters.tensors if parameters else None))
            return parameters, metrics

    def server_fn(context: Context) -> ServerAppComponents:
        return ServerAppComponents(
            strategy=Keeping(fraction_fit=0.5, min_available_clients=4),
            config=ServerConfig(num_rounds=rounds, round_timeout=timeout))

    return ServerApp(server_fn=server_fn)
