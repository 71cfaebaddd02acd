"""Workloads W1 to W3 as a Flower client in PyTorch; `flower.py` measures them."""

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "floors")]

import numpy as np
import torch
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

import torch_loop
import workloads

app = ClientApp()
made = {}


def data(workload):
    """All samples, read once in each process."""
    if "data" not in made:
        images, labels, *_ = workload.samples()
        made["data"] = torch.from_numpy(workloads.floats(images)), torch.from_numpy(labels.astype(np.int64))
    return made["data"]


@app.train()
def train(msg: Message, context: Context) -> Message:
    name = context.run_config["workload"]
    workload = workloads.WORKLOADS[name]
    images, labels = data(workload)
    if "network" not in made:
        made["network"] = torch_loop.network(name)
    network = made["network"]
    network.load_state_dict(msg.content["arrays"].to_torch_state_dict())
    optimizer = torch.optim.SGD(network.parameters(), lr=workload.rate, fused=True)
    rows = context.node_config["partition-id"] * workload.shard + torch.randperm(workload.shard)
    for batch in rows.split(workload.batch):
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(network(images[batch]), labels[batch]).backward()
        optimizer.step()
    metrics = MetricRecord({"num-examples": workload.shard})
    content = RecordDict({"arrays": ArrayRecord(network.state_dict()), "metrics": metrics})
    return Message(content=content, reply_to=msg)
