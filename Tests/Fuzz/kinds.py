"""What is damaged, and which commands get it."""

import gzip
import io
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import zipfile

import mutate

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
READERS = os.path.join(ROOT, "Tests/DataSetsTests/Fixtures/readers")
COREML = os.path.join(ROOT, "Tests/DataSetsTests/Fixtures/coreml")
TRACES = os.path.join(ROOT, "Tests/RunsTests/Fixtures/traces")
SMALL = """\
stop: {after: 12 h}
task:
  data:
    source: {blobs: {classes: 3, features: 4, train: 80, test: 30}}
    partition: {iid: {clients: 4}}
    validationFraction: 0.2
  model: softmax
fleet:
  - name: phones
    count: 4
    background: {processing: {earliestBegin: 1 h}}
server:
  trigger: {threshold: 2}
"""
SWEEP = SMALL + "sweep:\n  grid: {server.trigger.threshold: [1, 2]}\n"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def do(command, folder):
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Case:
    """A command, the files that it must not change, and the one that it writes."""

    def __init__(self, command, folder, inputs=(), output=None, right=None):
        self.command, self.folder, self.output, self.right = command, folder, output, right
        self.inputs = {path: read(os.path.join(folder, path)) for path in inputs}

    def fault(self, code):
        for path, data in self.inputs.items():
            if not os.path.exists(os.path.join(self.folder, path)) or read(os.path.join(self.folder, path)) != data:
                return f"changed its input {path}"
        if self.output is None:
            return None
        path = os.path.join(self.folder, self.output)
        if os.path.exists(path) != (code in (0, 1)):
            return f"exit code {code}, and {self.output} is {'there' if os.path.exists(path) else 'not there'}"
        if code == 0 and self.right is not None and read(path) != self.right:
            return f"{self.output} has wrong bytes"
        return None

    def end(self):
        """Removes what is outside the case's folder."""


class Results:
    name = "results"

    def __init__(self, fedsim, work):
        self.fedsim, self.base = fedsim, os.path.join(work, "base")
        os.makedirs(self.base)
        write(os.path.join(self.base, "s.yaml"), SMALL)
        write(os.path.join(self.base, "sweep.yaml"), SWEEP)
        do([fedsim, "run", "s.yaml", "-q", "-o", "r.h5"], self.base)
        do([fedsim, "sweep", "sweep.yaml", "-q", "-o", "out", "--store", "kept", "--jobs", "1"], self.base)
        self.whole = read(os.path.join(self.base, "r.h5"))
        self.table = read(os.path.join(self.base, "out/table.csv"))
        self.cells = sorted(name for name in os.listdir(os.path.join(self.base, "kept")) if name.endswith(".h5"))

    def case(self, draws, folder):
        commands = [
            (["export", "x.h5", "--to", "o.npz"], "o.npz"), (["export", "x.h5", "--to", "o", "--format", "csv"], "o"),
            (["export", "x.h5", "--to", "o.json"], "o.json"), (["report", "x.h5", "-o", "o.html"], "o.html"),
            (["compare", "r.h5", "x.h5"], None), (["explain", "x.h5", "--device", "phones/1"], None),
            (["replay", "x.h5"], None), (["plot", "x.h5", "--figure", "accuracy-by-version", "-o", "o.svg"], "o.svg"),
            (["recover", "x.h5", "-o", "o.h5"], "o.h5"), (["resume", "x.h5"], None),
            (["run", "s.yaml", "-q", "-o", "x.h5"], None), (["sweep"], None)]
        words, output = draws.choice(commands)
        if words == ["sweep"]:
            return self.sweep(draws, folder)
        write(os.path.join(folder, "x.h5"), mutate.binary(draws, self.whole))
        for name in ["r.h5", "s.yaml"]:
            shutil.copy(os.path.join(self.base, name), folder)
        if words[0] == "run":
            case = Case([self.fedsim] + words, folder, ["s.yaml"])
            damaged = read(os.path.join(folder, "x.h5"))
            case.fault = lambda code: (
                None if read(os.path.join(folder, "x.h5")) == (self.whole if code == 0 else damaged)
                else "a result that is neither the old one nor the new one")
            return case
        if words[0] == "export" and output == "o":
            case = Case([self.fedsim] + words, folder, ["x.h5", "s.yaml"])
            return case
        return Case([self.fedsim] + words, folder, ["x.h5", "r.h5", "s.yaml"], output)

    def sweep(self, draws, folder):
        """The same sweep with a damaged cell, or its table alone."""
        for name in ["sweep.yaml", "out", "kept"]:
            path = os.path.join(self.base, name)
            (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, os.path.join(folder, name))
        # A manifest names the folder of cells by its whole path.
        for name in os.listdir(os.path.join(folder, "out")):
            path = os.path.join(folder, "out", name)
            if os.path.isfile(path):
                write(path, read(path).replace(self.base.encode(), folder.encode()))
        cell = os.path.join(folder, "kept", draws.choice(self.cells))
        write(cell, mutate.binary(draws, read(cell)))
        words = draws.choice([["table", "out"], ["run", "sweep.yaml", "-q", "-o", "out", "--store", "kept", "--jobs", "1"]])
        case = Case([self.fedsim, "sweep"] + words, folder, ["sweep.yaml"])

        def fault(code):
            if read(os.path.join(folder, "out/table.csv")) != self.table:
                return "a wrong table"
            return f"exit code {code} of a sweep that can be played" if words[0] == "run" and code else None

        case.fault = fault
        return case


class Runs:
    name = "runs"

    def __init__(self, fedsim, work):
        self.fedsim, self.base = fedsim, os.path.join(work, "base")
        os.makedirs(self.base)
        write(os.path.join(self.base, "s.yaml"), SMALL.replace("12 h", "12 d"))
        do([fedsim, "run", "s.yaml", "-q", "-o", "whole.h5"], self.base)
        self.whole = read(os.path.join(self.base, "whole.h5"))
        self.files = self.kill()

    def kill(self):
        """A run that is killed after a checkpoint; the files in its folder."""
        path = os.path.join(self.base, "x.h5.run")
        for _ in range(20):
            shutil.rmtree(path, ignore_errors=True)
            if os.path.exists(os.path.join(self.base, "x.h5")):
                os.remove(os.path.join(self.base, "x.h5"))
            process = subprocess.Popen(
                [self.fedsim, "run", "s.yaml", "-q", "-o", "x.h5", "--checkpoint-every", "3 rounds"], cwd=self.base,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # However busy the machine is, the checkpoint says that the moment has come; one that hangs is given up.
            end = time.monotonic() + 60
            while process.poll() is None and not os.path.exists(os.path.join(path, "checkpoint")) and time.monotonic() < end:
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
            process.wait()
            names = sorted(os.listdir(path)) if os.path.isdir(path) else []
            if {"run.json", "journal", "checkpoint"} <= set(names):
                return [name for name in names if name != "lock"]
        sys.exit("fuzz: a run could not be killed between its first checkpoint and its end")

    def case(self, draws, folder):
        shutil.copy(os.path.join(self.base, "s.yaml"), folder)
        shutil.copytree(os.path.join(self.base, "x.h5.run"), os.path.join(folder, "x.h5.run"))
        path = os.path.join(folder, "x.h5.run")
        # The manifest names folders by their whole paths.
        manifest = os.path.join(path, "run.json")
        write(manifest, read(manifest).replace(self.base.encode(), folder.encode()))
        for _ in range(draws.choice([1, 1, 1, 2])):
            name = os.path.join(path, draws.choice(self.files))
            if not os.path.exists(name):
                continue
            if draws.random() < 0.05:
                os.remove(name)
            else:
                change = mutate.text if name.endswith(".json") and draws.random() < 0.5 else mutate.binary
                write(name, change(draws, read(name)))
        if draws.random() < 0.5:
            return Case([self.fedsim, "resume", "x.h5", "-q"], folder, ["s.yaml"], "x.h5", self.whole)
        inputs = ["s.yaml"] + [f"x.h5.run/{name}" for name in sorted(os.listdir(path)) if name != "lock"]
        return Case([self.fedsim, "recover", "x.h5", "-o", "o.h5"], folder, inputs, "o.h5")


class Scenarios:
    name = "scenarios"

    def __init__(self, fedsim, work):
        self.fedsim, self.tree = fedsim, os.path.join(work, "scenarios")
        shutil.copytree(os.path.join(ROOT, "scenarios"), self.tree)
        self.paths = sorted(
            os.path.join(folder, name) for folder, _, names in os.walk(self.tree) for name in names
            if name.endswith(".yaml"))

    def case(self, draws, folder):
        path = draws.choice(self.paths)
        # Next to the original: bases, traces and tables are found from there.
        target = f"{path[:-5]}-{os.path.basename(folder)}.yaml"
        data = mutate.text(draws, read(path))
        write(target, data)
        write(os.path.join(folder, "s.yaml"), data)
        words = draws.choice([["validate", target], ["validate", "--resolved", target]])
        case = Case([self.fedsim] + words, folder, [target])
        case.end = lambda: os.remove(target)
        return case


def npy(shape, kind, values):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    codes = {"<f4": "f", "<i8": "q", "<i4": "i"}
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack(f"<{len(values)}{codes[kind]}", *values))


def npz(arrays, method):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", method) as archive:
        for name, data in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), data, method)
    return memory.getvalue()


def idx(shape, values):
    return bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + bytes(values)


class Data:
    name = "data"

    def __init__(self, fedsim, work):
        self.fedsim, self.base = fedsim, os.path.join(work, "base")
        os.makedirs(self.base)
        self.make()
        self.kinds = [kind for kind in self.table() if self.works(*kind)]
        missing = len(self.table()) - len(self.kinds)
        if missing:
            sys.exit(f"fuzz: {missing} kinds of data do not work as they are")

    def make(self):
        put = lambda name, data: write(os.path.join(self.base, name), data)
        x, y = [i * 0.25 - 3 for i in range(24)], [i % 3 for i in range(12)]
        samples, labels = npy([12, 2], "<f4", x), npy([12], "<i8", y)
        put("x.npy", samples)
        put("y.npy", labels)
        arrays = {"x_train": samples, "y_train": labels, "x_test": samples, "y_test": labels}
        put("stored.npz", npz(arrays, zipfile.ZIP_STORED))
        put("deflated.npz", npz(arrays, zipfile.ZIP_DEFLATED))
        table = "a,b,label\n" + "".join(f"{a},{b},{'xyz'[c]}\n" for a, b, c in zip(x[::2], x[1::2], y))
        put("t.csv", table)
        put("t.csv.gz", gzip.compress(table.encode(), mtime=0))
        put("images", idx([12, 2, 2], [i * 5 for i in range(48)]))
        put("labels", idx([12], y))
        put("images.gz", gzip.compress(idx([12, 2, 2], range(48)), mtime=0))
        put("partition.npz", npz({"samples": npy([12], "<i8", range(12)), "offsets": npy([5], "<i8", [0, 3, 6, 9, 12])},
                                 zipfile.ZIP_STORED))
        put("partition.csv", "client,sample\n" + "".join(f"{i % 4},{i}\n" for i in range(12)))
        put("windows.csv", "device,from,to\n" + "".join(f"phones/{i},{i} h,{i + 2} h\n" for i in range(4)))
        put("train.h5", read(os.path.join(READERS, "train.h5")))
        put("flash.json", read(os.path.join(TRACES, "flash.json")))
        put("net.mlmodel", read(os.path.join(COREML, "perceptron.mlmodel")))
        put("lstm.mlmodel", read(os.path.join(COREML, "lstm.mlmodel")))
        put("lstm.npz", read(os.path.join(COREML, "lstm-data.npz")))
        put("behave.pickle", read(os.path.join(TRACES, "availability-0.pickle")))
        put("capacity.pickle", read(os.path.join(TRACES, "capacity-0.pickle")))
        for name in ["cifar-10-batches-bin", "leaf"]:
            shutil.copytree(os.path.join(READERS, name), os.path.join(self.base, name))

    def table(self):
        """The file that is damaged, and the scenario that names it."""
        source = lambda text, partition="{iid: {clients: 4}}": self.scenario(text, partition)
        csv = "{csv: {train: FILE, test: t.csv}}"
        npys = "{npy: {trainSamples: FILE, trainLabels: y.npy, testSamples: x.npy, testLabels: y.npy}}"
        labels = "{npy: {trainSamples: x.npy, trainLabels: FILE, testSamples: x.npy, testLabels: y.npy}}"
        images = "{idx: {trainImages: FILE, trainLabels: labels, testImages: images, testLabels: labels, classes: 3}}"
        classes = "{idx: {trainImages: images, trainLabels: FILE, testImages: images, testLabels: labels, classes: 3}}"
        blobs = "{blobs: {train: 12, test: 5, classes: 3, features: 2}}"
        model = lambda text: self.scenario(text, "{iid: {clients: 1}}").replace("softmax", "{coreml: FILE}")
        fleet = lambda text: self.scenario(blobs, "{iid: {clients: 4}}", text)
        return [
            ("t.csv", source(csv)), ("t.csv.gz", source(csv)), ("x.npy", source(npys)), ("y.npy", source(labels)),
            ("stored.npz", source("{npz: FILE}")), ("deflated.npz", source("{npz: FILE}")),
            ("images", source(images)), ("images.gz", source(images)), ("labels", source(classes)),
            ("cifar-10-batches-bin/data_batch_3.bin", source("{cifar-10: cifar-10-batches-bin}")),
            ("leaf/train/a.json", source("{leaf: {train: leaf/train, test: leaf/test, classes: 3}}", "{iid: {clients: 1}}")),
            ("train.h5", source("{tff-hdf5: {train: FILE, test: train.h5}}", "{iid: {clients: 1}}")),
            ("train.h5", source("{tff-hdf5: {train: FILE, test: train.h5}}", "{iid: {clients: 1}}")),
            ("partition.npz", source(blobs, "{file: FILE}")), ("partition.csv", source(blobs, "{file: FILE}")),
            ("net.mlmodel", model("{blobs: {train: 12, test: 5, classes: 4, features: 6}}")),
            ("lstm.mlmodel", model("{npz: {path: lstm.npz, classes: 4}}")),
            ("windows.csv", fleet("background: {windows: {csv: {file: FILE}}}")),
            ("flash.json", fleet("link: {flash: {file: FILE}}")),
            ("behave.pickle", fleet("background: {windows: {fedscale: {file: FILE, assign: drawn}}}")),
            ("capacity.pickle", fleet("capacity: {file: FILE, factor: 9}")),
        ]

    def scenario(self, source, partition, fleet="background: {processing: {earliestBegin: 1 h}}"):
        return (f"stop: {{after: 6 h}}\ntask:\n  data:\n    source: {source}\n    partition: {partition}\n"
                f"  model: softmax\nfleet:\n  - name: phones\n    count: {1 if 'clients: 1}' in partition else 4}\n"
                f"    {fleet}\nserver:\n  trigger: {{threshold: 1}}\n")

    def works(self, name, scenario):
        write(os.path.join(self.base, "s.yaml"), scenario.replace("FILE", name))
        done = subprocess.run([self.fedsim, "validate", "s.yaml"], cwd=self.base, capture_output=True, text=True)
        if done.returncode:
            print(f"fuzz: {name}: {done.stderr.strip()}")
        return done.returncode == 0

    def case(self, draws, folder):
        name, scenario = draws.choice(self.kinds)
        shutil.copytree(self.base, folder, dirs_exist_ok=True)
        path = os.path.join(folder, name)
        damaged = name
        if "FILE" in scenario:
            # The other uses of the same file stay whole.
            damaged = f"damaged-{name}"
        is_text = name.endswith((".csv", ".json"))
        change = mutate.text if is_text and draws.random() < 0.7 else mutate.binary
        write(os.path.join(folder, damaged), change(draws, read(path)))
        write(os.path.join(folder, "s.yaml"), scenario.replace("FILE", damaged))
        return Case([self.fedsim, "run", "s.yaml", "-q", "-o", "o.h5"], folder, ["s.yaml", damaged], "o.h5")


class Worlds:
    """Worlds of `fedsim stress`, each played in other ways that must not matter, and killed and resumed."""

    name = "worlds"
    seconds = 60
    WAYS = [["--threads", "3"], ["--kernels", "baseline"], ["--kernels", "avx2"], ["--compute", "eager"], ["--workers", "2"],
            ["--no-journal"], ["--audit", "--compute", "eager"], None]

    def __init__(self, fedsim, work):
        self.fedsim, self.tree = fedsim, os.path.join(work, "scenarios")
        shutil.copytree(os.path.join(ROOT, "scenarios"), self.tree)
        self.paths = sorted(
            os.path.join(folder, name) for folder, _, names in os.walk(self.tree) for name in names
            if name.endswith(".yaml") and "sweep" not in folder and "published" not in folder)

    def world(self, draws, folder):
        """The path of a world, and what is wrong with its making; nothing: None."""
        path, number = draws.choice(self.paths), draws.randrange(1, 1_000_000)
        # Next to the original: bases, traces and tables are found from there.
        target = f"{path[:-5]}-{os.path.basename(folder)}.yaml"
        made = subprocess.run([self.fedsim, "stress", path, "--world", str(number)], capture_output=True, text=True)
        write(target, made.stdout)
        return target, f"--world {number}: exit code {made.returncode}: {made.stderr[:300]}" if made.returncode else None

    def case(self, draws, folder):
        target, problem = self.world(draws, folder)
        text = read(target).decode()
        write(os.path.join(folder, "world.yaml"), text)
        shaken = re.search(r"--shake-ties (\d+)", text.split("\n")[0])
        words = ["--set", "expect=null", "-q"] + (["--shake-ties", shaken[1]] if shaken else [])
        run = lambda name, more: [self.fedsim, "run", target, "-o", name, *words, *more]
        ways = draws.sample(self.WAYS, 3)
        when, often = draws.random(), draws.choice(["1 rounds", "3 rounds", "0"])
        case = Case(run("a.h5", ["--threads", "1", "--audit"]), folder, ["world.yaml"])
        began = time.monotonic()

        def differing(code):
            whole = time.monotonic() - began
            if problem and "exit code 2" not in problem:
                return problem
            if code != 0 or problem:
                return {1: "an invariant is broken", 3: "the run failed"}.get(code)
            expected = read(os.path.join(folder, "a.h5"))
            for way in ways:
                if way is None:
                    self.cut(run("b.h5", ["--checkpoint-every", often]), when * whole, folder)
                    done = subprocess.run([self.fedsim, "resume", "b.h5", "-q"], cwd=folder, capture_output=True, timeout=300)
                    way = ["killed"]
                    if done.returncode == 2 and not os.path.exists(os.path.join(folder, "b.h5")):
                        continue  # It was killed before there was anything to resume.
                else:
                    if way[0] == "--kernels" and way[1] not in self.bodies():
                        continue
                    done = subprocess.run(run("b.h5", way), cwd=folder, capture_output=True, timeout=300)
                if not os.path.exists(os.path.join(folder, "b.h5")):
                    return f"{' '.join(way)}: exit code {done.returncode}: {done.stderr.decode()[:300]}"
                if read(os.path.join(folder, "b.h5")) != expected:
                    return f"{' '.join(way)}: differing bytes"
                os.remove(os.path.join(folder, "b.h5"))
            return None

        def fault(code):
            try:
                return differing(code)
            except subprocess.TimeoutExpired as late:
                return f"fedsim {late.cmd[1]} hangs: no end after {late.timeout:.0f} s"

        case.fault = fault
        case.end = lambda: os.remove(target)
        return case

    def cut(self, command, seconds, folder):
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for name in os.listdir(folder):
            # The trial whether the folder takes a file (docs/safety.md).
            if name.startswith("b.h5.partial-") and os.path.getsize(os.path.join(folder, name)) == 0:
                os.remove(os.path.join(folder, name))

    @staticmethod
    def bodies():
        with open("/proc/cpuinfo") as file:
            return ["baseline"] + (["avx2"] if " avx2 " in file.read() else [])


class Polls(Worlds):
    """Worlds whose devices ask again and again of a server that takes few: their polls are foreseen in every way of playing
    but in that which audits each event."""

    name = "polls"

    def world(self, draws, folder):
        pick = draws.choice
        devices = draws.randint(2, 30)
        group = lambda name: f"""
  - name: {name}
    count: {devices}
    background: {{{pick(["windows: {fixed: open}", "windows: {markov: [{state: open, mean: 40 min}, {state: closed, mean: 20 min}]}",
                        "windows: {weekly: {intervals: [{from: '01:00', to: '03:00'}, {from: '13:00', to: '14:00'}], jitter: 1 h}}"])}}}
    power: {{fixed: plugged}}
    link: {pick(["{fixed: wifi}", "{fixed: wifi}", "{markov: [{state: wifi, mean: 30 min}, {state: offline, mean: 5 min}]}",
                 "{markov: [{state: wifi, mean: 1 h}, {state: cellular, mean: 20 min}]}"])}
    usage: {{fixed: locked}}
    network: {{wifi: {{up: {pick([8, 500, 26000])} kbit/s, down: {pick([64, 40000])} kbit/s, roundTrip: {pick([0, 20, 400])} ms}},
              requestTimeout: {pick([450, 2000, 20000, 60000])} ms, spread: {pick([0, 0.3])}}}
    compute: {{perBatch: {pick([0.1, 3, 60, 900])} s}}
    participation: {{repeats: {pick(["true", "true", "true", "false"])}, pause: {pick(["1 s", "1 s", "1.3 s", "5 s", "60 s"])}}}
"""
        server = pick([
            "{{policy: fedbuff, selector: {{concurrent: {{limit: {c}, lease: {lease}}}}}, trigger: {{buffer: {k}}}}}",
            "{{policy: fedbuff, selector: {{concurrent: {c}}}, trigger: {{buffer: {k}}}, broadcast: afterAggregation}}",
            "{{policy: synchronous-fedavg, selector: {{uniform: {{cohort: {c}}}}}, trigger: {{cohort-complete: {{}}}}}}",
            "{{policy: fedbuff, selector: {{concurrent: {c}}}, trigger: {{every: {lease}}}}}",
        ]).format(c=draws.randint(1, max(1, devices // 2)), k=draws.randint(1, 4), lease=pick(["3 s", "60 s", "10 min", "1 h"]))
        text = f"""name: polls
seed: {draws.randrange(1 << 30)}
stop: {{after: {pick(["20 min", "90 min", "4 h"])}{pick(["", "", ", versions: 3", ", versions: 12"])}}}
task:
  data:
    source: {{blobs: {{classes: 3, features: 4, train: 120, test: 30}}}}
    partition: {{{pick(["iid", "quantity-power"])}: {{clients: {2 * devices}}}}}
  model: softmax
  training: {{epochs: 1, batchSize: 4, optimizer: {{sgd: 0.1}}}}
fleet:{group("first")}{group("second")}server: {server}
record: {{evaluateEvery: {{versions: {pick([1, 5])}}}}}
"""
        target = os.path.join(self.tree, f"polls-{os.path.basename(folder)}.yaml")
        write(target, text)
        done = subprocess.run([self.fedsim, "validate", target], capture_output=True, text=True)
        return target, f"{target} is refused: {done.stderr[:600]}" if done.returncode else None


ALL = {kind.name: kind for kind in [Results, Runs, Scenarios, Data, Worlds, Polls]}
