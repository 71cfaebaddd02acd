"""The digest of the document in DigestTests.swift, worked out without Swift."""
import hashlib
import struct


def word(n):
    return struct.pack("<Q", n % 2**64)


def text(s):
    return word(len(s.encode())) + s.encode()


def parts(items):
    return word(len(items)) + b"".join(items)


def group(name, attributes=(), axes=(), texts=(), variables=(), groups=()):
    lists = (attributes, axes, texts, variables, groups)
    return text(name) + b"".join(parts(list(items)) for items in lists)


seed = text("seed") + text("unsigned") + word(2**63 + 1)
pair = text("pair") + text("array") + text("byte") + word(2) + struct.pack("<2b", -1, 2)
scenario = text("scenario") + text("näme: a\n")
version = text("version") + word(2) + word(1)
accuracy = (
    text("accuracy") + parts([text("version")])
    + text("double") + word(2) + struct.pack("<d", 0.75) + word(0x7FF8000000000000)
    + text("1") + text("central accuracy") + parts([pair])
)
versions = group("versions", axes=[version], variables=[accuracy])
document = text("FedSim-1") + group("", [seed], texts=[scenario], groups=[versions])
print(hashlib.sha256(document).hexdigest())
