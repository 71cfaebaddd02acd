"""A Flower client as Flower's documentation writes one: softmax regression in NumPy, on made-up data."""
import numpy as np
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

FEATURES, CLASSES, SAMPLES = 20, 4, 60

app = ClientApp()


def load_data(partition_id: int, num_partitions: int) -> tuple[np.ndarray, np.ndarray]:
    """A client's samples: points around a centre for each class."""
    centres = np.random.default_rng(7).normal(size=(CLASSES, FEATURES))
    random = np.random.default_rng((num_partitions, partition_id))
    labels = random.integers(CLASSES, size=SAMPLES)
    return centres[labels] + 1.5 * random.normal(size=(SAMPLES, FEATURES)), labels


def probabilities(weights: np.ndarray, bias: np.ndarray, samples: np.ndarray) -> np.ndarray:
    values = samples @ weights + bias
    values = np.exp(values - values.max(axis=1, keepdims=True))
    return values / values.sum(axis=1, keepdims=True)


@app.train()
def train(msg: Message, context: Context) -> Message:
    """Trains the model that came on the node's own data."""
    weights, bias = msg.content["arrays"].to_numpy_ndarrays()
    rate = float(msg.content["config"]["lr"])
    samples, labels = load_data(context.node_config["partition-id"], context.node_config["num-partitions"])
    for _ in range(int(context.run_config["local-epochs"])):
        order = np.random.permutation(len(samples))
        for batch in order.reshape(-1, int(context.run_config["batch-size"])):
            error = probabilities(weights, bias, samples[batch])
            error[np.arange(len(batch)), labels[batch]] -= 1
            weights = (weights - rate * samples[batch].T @ error / len(batch)).astype(np.float32)
            bias = (bias - rate * error.mean(axis=0)).astype(np.float32)
    chosen = probabilities(weights, bias, samples)[np.arange(len(samples)), labels]
    metrics = MetricRecord({"train_loss": float(-np.log(chosen).mean()), "num-examples": len(samples)})
    content = RecordDict({"arrays": ArrayRecord([weights, bias]), "metrics": metrics})
    return Message(content=content, reply_to=msg)


@app.evaluate()
def evaluate(msg: Message, context: Context) -> Message:
    """Evaluates the model that came on the node's own data."""
    weights, bias = msg.content["arrays"].to_numpy_ndarrays()
    samples, labels = load_data(context.node_config["partition-id"], context.node_config["num-partitions"])
    found = probabilities(weights, bias, samples)
    metrics = MetricRecord({
        "eval_loss": float(-np.log(found[np.arange(len(samples)), labels]).mean()),
        "eval_acc": float((found.argmax(axis=1) == labels).mean()),
        "num-examples": len(samples),
    })
    return Message(content=RecordDict({"metrics": metrics}), reply_to=msg)
