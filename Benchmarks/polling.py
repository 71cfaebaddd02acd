"""Fleets that ask a server again and again, played with heapq and with SimPy.

Times in microseconds, those of fedbuff.yaml and synchronous.yaml: a message of 500 bytes takes 154 up
and 100 down, a model of 797,340 bytes 245,336 up and 159,468 down, each way 10,000; a training takes
six batches of 600,000, a pause 1,000,000. Each step is an event, as in FedSim; of two at one time the
order is (class, device).
"""

import heapq
import random

SEND, RECEIVE, WAY = 154, 100, 10_000
MODEL_UP, MODEL_DOWN, TRAIN, PAUSE = 245_336, 159_468, 3_600_000, 1_000_000
# Classes of events, in the order of FedSim's.
TRANSFER, BATCH, ARRIVAL, ANSWER, TIMER = 3, 4, 6, 7, 8


class FedBuff:
    """Lets in who asks while fewer than a number train; a number of updates makes a version."""

    def __init__(self, limit=100, buffer=10):
        self.limit, self.buffer = limit, buffer
        self.version, self.pending, self.training = 0, set(), set()

    def ask(self, device, answer):
        accepted = len(self.training) < self.limit and device not in self.pending
        if accepted:
            self.training.add(device)
        answer(device, accepted, self.version)

    def deliver(self, device, answer):
        self.training.discard(device)
        self.pending.add(device)
        if len(self.pending) == self.buffer:
            self.version += 1
            self.pending.clear()


class Synchronous:
    """Draws a cohort of those that wait, and makes a version of its updates."""

    def __init__(self, cohort):
        self.cohort, self.version = cohort, 0
        self.waiting, self.members, self.arrived = [], 0, 0

    def ask(self, device, answer):
        self.waiting.append(device)
        self.form(answer)

    def form(self, answer):
        if self.members or len(self.waiting) < self.cohort:
            return
        members = set(random.sample(self.waiting, self.cohort))
        self.waiting = [device for device in self.waiting if device not in members]
        self.members, self.arrived = self.cohort, 0
        for device in sorted(members):
            answer(device, True, self.version)

    def deliver(self, device, answer):
        self.arrived += 1
        if self.arrived == self.cohort:
            self.version += 1
            self.members = 0
            self.form(answer)


def by_heapq(server, devices, versions):
    """Plays until a version; its time in microseconds, the requests for work, the events."""
    random.seed(1)
    held = [-1] * devices
    latest = [0] * devices
    heap = [(0, TIMER, device, "ask") for device in range(devices)]
    requests = events = 0

    def answer(device, accepted, version):
        latest[device] = version
        heapq.heappush(heap, (now + WAY, ANSWER, device, "let in" if accepted else "turned away"))

    then = {
        "ask": (SEND, TRANSFER, "asked"), "asked": (WAY, ARRIVAL, "at server"),
        "turned away": (RECEIVE, TRANSFER, "done"), "done": (PAUSE, TIMER, "ask"),
        "let in": (RECEIVE, TRANSFER, "accepted"),
        "fetched": (WAY, ARRIVAL, "model asked"), "model": (MODEL_DOWN, TRANSFER, "loaded"),
        "trained": (MODEL_UP, TRANSFER, "sent"), "sent": (WAY, ARRIVAL, "delivered"),
        "receipt": (RECEIVE, TRANSFER, "done")}
    while server.version < versions:
        now, _, device, step = heapq.heappop(heap)
        events += 1
        if step in then:
            requests += step == "ask"
            wait, kind, following = then[step]
            heapq.heappush(heap, (now + wait, kind, device, following))
        elif step == "at server":
            server.ask(device, answer)
        elif step == "accepted" and held[device] != latest[device]:
            heapq.heappush(heap, (now + SEND, TRANSFER, device, "fetched"))
        elif step == "model asked":
            latest[device] = server.version
            heapq.heappush(heap, (now + WAY, ANSWER, device, "model"))
        elif step in ("accepted", "loaded"):
            held[device] = latest[device]
            heapq.heappush(heap, (now + TRAIN, BATCH, device, "trained"))
        else:
            server.deliver(device, answer)
            heapq.heappush(heap, (now + WAY, ANSWER, device, "receipt"))
    return now, requests, events


def by_simpy(server, devices, versions):
    """The same with a process for each device; what happens at one time is in the order of its making."""
    import simpy

    random.seed(1)
    environment = simpy.Environment()
    over = environment.event()
    answers = {}
    requests = 0

    def answer(device, accepted, version):
        answers[device].succeed((accepted, version))

    def play(device):
        nonlocal requests
        held = -1
        while True:
            requests += 1
            yield environment.timeout(SEND)
            yield environment.timeout(WAY)
            answers[device] = environment.event()
            server.ask(device, answer)
            accepted, latest = yield answers[device]
            yield environment.timeout(WAY)
            yield environment.timeout(RECEIVE)
            if accepted:
                if held != latest:
                    yield environment.timeout(SEND)
                    yield environment.timeout(WAY)
                    held = server.version
                    yield environment.timeout(WAY)
                    yield environment.timeout(MODEL_DOWN)
                yield environment.timeout(TRAIN)
                yield environment.timeout(MODEL_UP)
                yield environment.timeout(WAY)
                server.deliver(device, answer)
                if server.version >= versions:
                    if not over.triggered:
                        over.succeed()
                    return
                yield environment.timeout(WAY)
                yield environment.timeout(RECEIVE)
            yield environment.timeout(PAUSE)

    for device in range(devices):
        environment.process(play(device))
    environment.run(until=over)
    return environment.now, requests
