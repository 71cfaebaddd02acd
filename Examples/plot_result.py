"""Draws accuracy over simulated time from a result file: python3 plot_result.py RESULT PICTURE

Needs h5py and matplotlib. The same result gives the same bytes.
"""
import sys

import h5py
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "fedsim"
import matplotlib.pyplot as plt
import numpy as np

if len(sys.argv) != 3:
    sys.exit("usage: python3 plot_result.py RESULT PICTURE")
result, picture = sys.argv[1:]
with h5py.File(result) as file:
    versions = file["versions"]
    days = versions["publishedAt"][:] / 86400
    accuracy = versions["centralAccuracy"][:]
    hours = file["hours"]
    started = hours["started"][:]
    title = file.attrs["title"]

known = ~np.isnan(accuracy)
figure, (top, bottom) = plt.subplots(
    2, 1, figsize=(8, 4.2), sharex=True, height_ratios=[3, 1], layout="constrained"
)
top.step(days[known], accuracy[known], where="post", color="#1f6f8b")
top.set_ylabel("accuracy on the test set")
top.set_ylim(0, 1)
top.grid(alpha=0.3)
top.set_title(title)
bottom.bar(np.arange(len(started)) / 24, started, width=1 / 24, align="edge", color="#e0a458")
bottom.set_ylabel("trainings\nstarted an hour")
bottom.set_xlabel("simulated days")
figure.savefig(picture, metadata={"Date": None})
