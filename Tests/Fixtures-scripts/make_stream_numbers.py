"""Makes the numbers of `GeneratorTests.layout`: the first words of keyed streams, from what `StreamKey` says alone.

    python make_stream_numbers.py

XXH64 by the xxHash specification 0.1.1 over the words: seed; the number of bytes of the purpose, then its bytes in
words padded with zeros; the group's name likewise. Its lower and upper half are the Philox key. The counter is (block,
slot low, slot high, ordinal). Philox4x32-10 by Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
Both are compared with answers that are published.
"""
import struct

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
P1, P2, P3, P4, P5 = (
    11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)


def rotated(x, r):
    return ((x << r) | (x >> (64 - r))) & M64


def xxh64(data, seed=0):
    def taken(lane, word):
        return rotated((lane + word * P2) & M64, 31) * P1 & M64

    at = 0
    if len(data) >= 32:
        lanes = [(seed + P1 + P2) & M64, (seed + P2) & M64, seed, (seed - P1) & M64]
        while at + 32 <= len(data):
            lanes = [taken(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at))]
            at += 32
        value = sum(rotated(lane, r) for lane, r in zip(lanes, (1, 7, 12, 18))) & M64
        for lane in lanes:
            value = ((value ^ taken(0, lane)) * P1 + P4) & M64
    else:
        value = (seed + P5) & M64
    value = (value + len(data)) & M64
    while at + 8 <= len(data):
        value = (rotated(value ^ taken(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & M64
        at += 8
    if at + 4 <= len(data):
        value = (rotated(value ^ struct.unpack_from("<I", data, at)[0] * P1 & M64, 23) * P2 + P3) & M64
        at += 4
    for byte in data[at:]:
        value = rotated(value ^ byte * P5 & M64, 11) * P1 & M64
    value = (value ^ value >> 33) * P2 & M64
    value = (value ^ value >> 29) * P3 & M64
    return value ^ value >> 32


def philox(counter, key):
    (a, b, c, d), (k, l) = counter, key
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = second >> 32 ^ b ^ k, second & M32, first >> 32 ^ d ^ l, first & M32
        k, l = (k + 0x9E3779B9) & M32, (l + 0xBB67AE85) & M32
    return a, b, c, d


def padded(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data + bytes(-len(data) % 8)


def words(seed, purpose, group, ordinal, slot, count):
    key = xxh64(struct.pack("<Q", seed) + padded(purpose) + padded(group))
    blocks = (philox((n, slot & M32, slot >> 32, ordinal), (key & M32, key >> 32)) for n in range((count + 3) // 4))
    return [word for block in blocks for word in block][:count]


assert xxh64(b"") == 0xEF46DB3751D8E999 and xxh64(b"abc") == 0x44BC2CF5AD770999
assert philox((0,) * 4, (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
assert philox((M32,) * 4, (M32, M32)) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
for key in [(1, "power", "", 0, 0), (2**63 + 5, "processing-budget", "phones in Zürich", 17, 2**40 + 3)]:
    print(key, [f"0x{word:08x}" for word in words(*key, 6)])
