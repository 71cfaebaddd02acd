"""Makes the traces of scenarios/published/oort: 200 phones over a week, in the formats of FedScale and FLASH.

    python3 Tests/Fixtures-scripts/make_published_traces.py

Generated, not measured. A phone charges at night from about 22:30 for about 8 hours, on 6 nights of 7, and one to four
times by day for about 40 minutes; then it is locked and on Wi-Fi. The two files of availability hold the same
times. The capacity trace has milliseconds per sample and kbit/s: log-normal, the middle half of the phones within a
factor of 4 in computation. Written without time stamps, so that the bytes are the same each time.
"""
import datetime
import gzip
import json
import math
import pathlib
import pickle
import random

FOLDER = pathlib.Path(__file__).parent.parent.parent / "scenarios" / "published" / "oort"
PHONES, DAYS, DAY = 200, 7, 86_400
START = datetime.datetime(2020, 1, 27)


def sessions(draw):
    """Disjoint stretches in which a phone is free, in seconds from a Monday's midnight."""
    found = []
    for day in range(DAYS - 1):
        if draw.random() < 6 / 7:
            begin = day * DAY + int(draw.gauss(22.5, 1) * 3600)
            found.append((begin, begin + max(1800, int(draw.gauss(8, 1.5) * 3600))))
    for day in range(DAYS):
        for _ in range(draw.randrange(1, 5)):
            begin = day * DAY + draw.randrange(8 * 3600, 21 * 3600)
            found.append((begin, begin + max(300, int(draw.expovariate(1 / 2400)))))
    merged = []
    for begin, end in sorted(found):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end < DAYS * DAY:
            merged.append((begin, end))
    return merged


def main():
    draw = random.Random(20211)
    availability, states, capacity = {}, {}, {}
    for phone in range(PHONES):
        free = sessions(draw)
        availability[phone] = {
            "duration": sum(end - begin for begin, end in free), "inactive": [end for _, end in free],
            "finish_time": DAYS * DAY, "active": [begin for begin, _ in free], "model": "generated"}
        lines = [(0, "battery_charged_off"), (0, "screen_lock"), (0, "wifi")]
        for begin, end in free:
            lines += [(begin, "battery_charged_on"), (end, "battery_charged_off")]
        lines.append((DAYS * DAY, "battery_charged_off"))
        text = "".join(f"{START + datetime.timedelta(seconds=second)}\t{word}\n" for second, word in lines)
        states[str(phone)] = {"guid": str(phone), "model": "generated", "messages": text}
        capacity[phone] = {
            "computation": round(100 * math.exp(draw.gauss(0, 1)), 3),
            "communication": round(5000 * math.exp(draw.gauss(0, 1)), 3)}
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, data in [
            ("availability.pickle.gz", pickle.dumps(availability, 4)),
            ("capacity.pickle.gz", pickle.dumps(capacity, 4)),
            ("states.json.gz", json.dumps(states).encode())]:
        (FOLDER / name).write_bytes(gzip.compress(data, mtime=0))


if __name__ == "__main__":
    main()
