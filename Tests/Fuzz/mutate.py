"""Mutations of bytes and texts: each a function of the draws that it is handed, and of nothing else."""

MARKS = [b"FRHP", b"FHDB", b"FHIB", b"OHDR", b"OCHK", b"SNOD", b"TREE", b"BTHD", b"BTLF", b"GCOL", b"FADB", b"HEAP"]
NUMBERS = ["0", "-1", "1", "0.5", "1e308", "-1e308", "nan", ".inf", "9223372036854775807", "9223372036854775808",
           "18446744073709551616", "4294967296", "1e-320", "''", "~", "true", "[]", "{}", "1000000000 h", "-5 s"]
WORDS = ["{", "}", "[", "]", ":", "- ", "&a ", "*a", "!!binary ", "\t", "\x7f", "\x00", "'", '"', "|\n", ">\n", "? ",
         "<<: *a", "%YAML 9", "\n---\n", "\u2028", "é", "😀", "#"]


def flip(draws, data, count, places=None):
    """Replaces some bytes, near the places if there are any."""
    data = bytearray(data)
    for _ in range(count):
        place = draws.choice(places) + draws.randint(0, 200) if places else draws.randrange(max(1, len(data)))
        if place < len(data):
            data[place] = draws.choice([0, 1, 0x7F, 0x80, 0xFF, draws.randrange(256), data[place] ^ 1 << draws.randrange(8)])
    return bytes(data)


def piece(draws, data):
    """Cuts off, cuts out, doubles, moves, clears or adds a piece."""
    a = draws.randrange(len(data) + 1)
    b = min(len(data), a + draws.choice([1, 4, 8, 64, 512, 4096]))
    kind = draws.randrange(6)
    if kind == 0:
        return data[:a]
    if kind == 1:
        return data[:a] + data[b:]
    if kind == 2:
        return data[:b] + data[a:b] + data[b:]
    if kind == 3:
        at = draws.randrange(len(data) + 1)
        return data[:at] + data[a:b] + data[at + b - a:]
    if kind == 4:
        return data[:a] + bytes(b - a) + data[b:]
    return data + bytes(draws.randrange(256) for _ in range(b - a))


def binary(draws, data):
    """A binary file with one to six changes, most of them where HDF5 keeps its structures."""
    draw = draws.random()
    if draw < 0.25:
        return piece(draws, data)
    places = [i for mark in MARKS for i in all_of(data, mark)] if draw < 0.7 else []
    return flip(draws, data, draws.randint(1, 6), places)


def all_of(data, mark):
    place = data.find(mark)
    while place >= 0:
        yield place
        place = data.find(mark, place + 1)


def text(draws, data):
    """A text with one to four changes of its lines, words, numbers or bytes."""
    for _ in range(draws.randint(1, 4)):
        data = one_change(draws, data)
    return data


def one_change(draws, data):
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    at = draws.randrange(len(lines))
    kind = draws.randrange(11)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[draws.randrange(len(lines))])
    elif kind == 2:
        other = draws.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 3:
        lines[at] = " " * draws.randint(1, 3) + lines[at]
    elif kind == 4:
        lines[at] = lines[at][draws.randint(1, 3):]
    elif kind in (5, 6):
        words = lines[at].replace(",", " , ").split(" ")
        words[draws.randrange(len(words))] = draws.choice(NUMBERS)
        lines[at] = " ".join(words)
    elif kind == 7:
        place = draws.randrange(len(lines[at]) + 1)
        lines[at] = lines[at][:place] + draws.choice(WORDS) + lines[at][place:]
    elif kind == 8:
        words = lines[at].split(" ")
        others = lines[draws.randrange(len(lines))].split(" ")
        words[draws.randrange(len(words))] = draws.choice(others)
        lines[at] = " ".join(words)
    elif kind == 9:
        depth = draws.choice([10, 100, 1000, 20000])
        lines[at] += draws.choice(["[", "{a: ", "- "]) * depth
    else:
        return flip(draws, data, draws.randint(1, 3))
    return "\n".join(lines).encode("utf-8", "surrogateescape")
