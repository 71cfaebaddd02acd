#!/usr/bin/env python3
"""What a Flower program computes in a round, called directly: each client's app in turn, the cohort split over
processes of one thread each, then the strategy's aggregation. Nothing is sent. Prints a line of JSON.

    flower_calls.py w2-mlp [--processes 2] [--rounds 10]
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # Processes are the threads.

import argparse
import json
import logging
import multiprocessing
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]

import torch
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.serverapp.strategy import FedAvg
from flwr.supercore.task_identity import TaskIdentity

import flower_client
import torch_loop
import workloads


def replies(name, content, clients):
    """Has clients train, one after the other."""
    found = []
    for client in clients:
        message = Message(content, client + 2, "train", group_id="1")
        context = Context(
            run_id=1, node_id=client + 2, node_config={"partition-id": client}, state=RecordDict(),
            run_config={"workload": name})
        found.append(flower_client.app(message, context))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("workload")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    logging.getLogger("flwr").setLevel(logging.WARNING)
    torch.set_num_threads(1)
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1
    cohort = workloads.WORKLOADS[options.workload].cohort
    content = RecordDict({
        "arrays": ArrayRecord(torch_loop.network(options.workload).state_dict()),
        "config": ConfigRecord({"server-round": 1})})
    barrier = multiprocessing.Barrier(options.processes)
    rounds = multiprocessing.Queue()

    def work(process):
        own = range(process, cohort, options.processes)
        replies(options.workload, content, own[:2])
        for _ in range(options.rounds):
            barrier.wait()
            begun = time.perf_counter()
            replies(options.workload, content, own)
            barrier.wait()
            if process == 0:
                rounds.put(time.perf_counter() - begun)

    workers = [multiprocessing.Process(target=work, args=(process,)) for process in range(options.processes)]
    for worker in workers:
        worker.start()
    clients = statistics.median(rounds.get() for _ in range(options.rounds))
    for worker in workers:
        worker.join()
    all_replies = replies(options.workload, content, range(cohort))
    begun = time.perf_counter()
    FedAvg().aggregate_train(1, all_replies)
    aggregation = time.perf_counter() - begun
    print(json.dumps({"secondsPerRound": clients + aggregation, "clients": clients, "aggregation": aggregation}))


if __name__ == "__main__":
    main()
