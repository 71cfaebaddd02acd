"""Makes Tests/RunsTests/Fixtures/traces and scenarios/smoke/traces: small traces as FLASH and FedScale
write them.

Run from the root of the project: python3 Tests/Fixtures-scripts/make_trace_files.py
Needs nothing beyond Python. The pickles are made by Python's own `pickle`, one for each protocol. What
FLASH takes for its eligible intervals is worked out here from the description of its rule (locked,
on Wi-Fi and charging; times without a zone; modulo the time from the first message to the last),
not from its code or ours, and written next to its traces.
"""

import datetime
import gzip
import json
import pathlib
import pickle
import random

ROOT = pathlib.Path(__file__).parent.parent.parent
FOLDER = ROOT / "Tests" / "RunsTests" / "Fixtures" / "traces"
SMOKE = ROOT / "scenarios" / "smoke" / "traces"

# The row of FedScale's availability trace that is quoted in REFL's core/helper/client.py.
SAMPLE = {
    "duration": 211625,
    "inactive": [65881, 133574, 208292, 276575, 295006, 356236, 400906, 475099],
    "finish_time": 518400,
    "active": [12788, 100044, 188992, 271372, 276663, 352625, 356267, 441193],
    "model": "CPH1801",
}


def flash():
    traces, eligible = {}, {}
    draw = random.Random(20200129)
    for number in range(6):
        begin = datetime.datetime(2020, 1, 28, 3, 0, number)
        # Every trace begins and ends unplugged: FLASH forgets at the wrap what holds there.
        events = [(0, "battery_charged_off"), (0, "screen_lock"), (0, "wifi")]
        second = 0
        while second < 4 * 86400:
            second += draw.randrange(1, 5400)
            word = draw.choice(
                ["battery_charged_on", "battery_charged_on", "battery_charged_off", "screen_on", "screen_off",
                 "screen_lock", "screen_lock", "screen_unlock", "wifi", "wifi", "4G", "3G", "2G", "5G",
                 "Unknown", "%.1f%%" % draw.uniform(0, 100)])
            events.append((second, word))
        events.append((second + 61, "battery_charged_off"))
        text = "".join(f"{begin + datetime.timedelta(seconds=s)}\t{word}\n" for s, word in events)
        name = f"user-{number}"
        traces[name] = {"guid": f"g{number}", "model": "M 5", "messages": text}
        eligible[name] = {"length": events[-1][0], "intervals": intervals(events)}
    (FOLDER / "flash.json").write_text(json.dumps(traces, indent=1))
    (FOLDER / "flash-eligible.json").write_text(json.dumps(eligible))


def intervals(events):
    """When a phone is locked, on Wi-Fi and charging, as pairs of seconds; touching ones are one."""
    charging = wifi = locked = False
    found = []
    for second, word in events:
        if word.startswith("battery_charged"):
            charging = word.endswith("on")
        elif word in ("screen_lock", "screen_unlock"):
            locked = word == "screen_lock"
        elif word in ("wifi", "2G", "3G", "4G", "5G", "Unknown"):
            wifi = word == "wifi"
        ready = charging and wifi and locked
        is_open = bool(found) and found[-1][1] is None
        if ready and not is_open:
            found.append([second, None])
        elif is_open and not ready:
            found[-1][1] = second
    assert not found or found[-1][1] is not None
    return found


def pickles():
    shared = [5, 10]
    availability = {
        3834: SAMPLE,
        "a-b": {"duration": 0, "inactive": [], "finish_time": 100, "active": [], "model": "Mi 9 ü"},
        70000: {"duration": 5, "inactive": [10], "finish_time": 100, "active": [5], "model": None},
        # One list object under two keys: Python writes a reference to the first.
        4294967296: {"inactive": shared, "finish_time": 300, "active": shared},
    }
    capacity = {
        432802: {"computation": 162.0, "communication": 5648.109619499134},
        "x": {"computation": 40, "communication": 1000},
        -1: {"communication": 2.5e6, "computation": 0.125},
    }
    for protocol in range(6):
        for name, value in [("availability", availability), ("capacity", capacity)]:
            (FOLDER / f"{name}-{protocol}.pickle").write_bytes(pickle.dumps(value, protocol))
    many = {
        n: {"duration": 60, "inactive": [n + 60], "finish_time": 86400, "active": [n], "model": "m"}
        for n in range(2500)
    }
    (FOLDER / "many.pickle.gz").write_bytes(gzip.compress(pickle.dumps(many, 4), mtime=0))


def smoke():
    draw = random.Random(7)
    traces = {}
    for number in range(5):
        begin = datetime.datetime(2020, 2, 3 + number % 2, 12, 0, number)
        second, lines = 0, []
        words = ["battery_charged_off", "wifi", "screen_lock"]
        while second < 130_000:
            lines += [f"{begin + datetime.timedelta(seconds=second)}\t{word}\n" for word in words]
            second += draw.randrange(60, 9000)
            words = draw.choice(
                [["battery_charged_on"], ["battery_charged_on", "80.0%"], ["battery_charged_off"],
                 ["screen_on", "screen_unlock"], ["screen_off", "screen_lock"], ["screen_lock"], ["wifi"],
                 ["wifi"], ["4G"], ["Unknown"]])
        traces[str(number)] = {"guid": str(number), "model": "unknown", "messages": "".join(lines)}
    (SMOKE / "states.json").write_text(json.dumps(traces, indent=1) + "\n")
    behave, capacity = {}, {}
    for number in range(6):
        times = sorted(draw.sample(range(86_400), 8))
        behave[number] = {
            "duration": sum(b - a for a, b in zip(times[::2], times[1::2])), "inactive": times[1::2],
            "finish_time": 86_400, "active": times[::2], "model": f"phone {number}"}
        capacity[number] = {
            "computation": draw.uniform(40, 400), "communication": draw.uniform(500, 20_000)}
    (SMOKE / "behave.pickle").write_bytes(pickle.dumps(behave, 2))
    (SMOKE / "capacity.pickle").write_bytes(pickle.dumps(capacity, 4))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    SMOKE.mkdir(parents=True, exist_ok=True)
    flash()
    pickles()
    smoke()
