"""FedSim's random streams and variates in plain Python, for the scripts of this folder.

The words are those of make_stream_numbers.py (published answers); variates are written from their papers: Marsaglia's
polar method, Marsaglia and Tsang (2000), Lemire (2019), Fisher-Yates.
"""
import contextlib
import io
import pathlib
import sys
from math import exp, log, sqrt

sys.path.insert(0, str(pathlib.Path(__file__).parent))
with contextlib.redirect_stdout(io.StringIO()):
    import make_stream_numbers as streams


class Stream:
    def __init__(self, purpose, ordinal=0, slot=0, seed=1, group=""):
        key = streams.xxh64(streams.struct.pack("<Q", seed) + streams.padded(purpose) + streams.padded(group))
        self.key = (key & streams.M32, key >> 32)
        self.slot, self.ordinal, self.block, self.words = slot, ordinal, 0, []

    def word(self):
        if not self.words:
            counter = (self.block, self.slot & streams.M32, self.slot >> 32, self.ordinal)
            self.words = list(streams.philox(counter, self.key))
            self.block += 1
        return self.words.pop(0)

    def bits(self):
        low = self.word()
        return (low | self.word() << 32) >> 11

    def uniform(self):
        return self.bits() * 2.0**-53

    def above_zero(self):
        return (self.bits() + 1) * 2.0**-53

    def below(self, bound):
        product = self.word() * bound
        while product % 2**32 < 2**32 % bound:
            product = self.word() * bound
        return product >> 32

    def normal(self):
        while True:
            x = 2 * self.uniform() - 1
            y = 2 * self.uniform() - 1
            s = x * x + y * y
            if 0 < s < 1:
                return x * sqrt(-2 * log(s) / s)

    def log_gamma(self, shape):
        if shape < 1:
            boosted = self.log_gamma(shape + 1)
            return boosted + log(self.above_zero()) / shape
        d = shape - 1 / 3
        c = 1 / sqrt(9 * d)
        while True:
            x = self.normal()
            u = self.above_zero()
            v = (1 + c * x) ** 3
            if v > 0 and log(u) < 0.5 * x * x + d - d * v + d * log(v):
                return log(d) + log(v)

    def dirichlet(self, alpha, count):
        shares = [exp(self.log_gamma(alpha)) for _ in range(count)]
        return [share / sum(shares) for share in shares]

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items

    def sample(self, count, population):
        items = list(range(population))
        for i in range(count):
            j = i + self.below(population - i)
            items[i], items[j] = items[j], items[i]
        return items[:count]
