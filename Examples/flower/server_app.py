"""A Flower server as Flower's documentation writes one: FedAvg over half of the nodes that are online."""
import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Context
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from client_app import CLASSES, FEATURES

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Trains for some rounds."""
    arrays = ArrayRecord([np.zeros((FEATURES, CLASSES), np.float32), np.zeros(CLASSES, np.float32)])
    strategy = FedAvg(fraction_train=0.5, fraction_evaluate=0.5, min_available_nodes=4)
    result = strategy.start(
        grid=grid,
        initial_arrays=arrays,
        train_config=ConfigRecord({"lr": 0.1}),
        num_rounds=int(context.run_config["num-server-rounds"]),
        timeout=600,
    )
    print("accuracy", {round: metrics["eval_acc"] for round, metrics in result.evaluate_metrics_clientapp.items()})
