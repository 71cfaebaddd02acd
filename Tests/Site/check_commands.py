"""Holds the commands on the pages to the command: each line with `fedsim` parses, each scenario it names exists.

    check_commands.py [FEDSIM]

Looks at blocks of code and at code within lines of README.md, CONTRIBUTING.md, docs/ and the pages of scenarios and
examples. Subcommands, options and their values, and numbers of arguments are those of `fedsim --experimental-dump-help`;
targets of `make` are those of the Makefile. Words such as `…` are left open. Without FEDSIM only files and targets are
checked. Exit code 1 names each line.
"""
import difflib
import glob
import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "docs/**/*.md", "scenarios/**/*.md", "Examples/**/*.md", "packaging/**/*"]
FENCE = re.compile(r"^(`{3,})(\w*)[^\n]*\n(.*?)^\1", re.M | re.S)
SPAN = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
SHELL = ("", "sh", "bash", "console", "dockerfile")
OPEN = ("…", "...", "OPTIONS", "$@", "${threads[@]}")
# What must be found, and what must not.
PLANTED = [
    "fedsim rum a.yaml", "fedsim run a.yaml --sed 1", "fedsim run a.yaml b.yaml", "fedsim run a.yaml --quiet=1",
    "A=$(fedsim list --jsn)", "fedsim sweep sttus a b", "make doc", "fedsim run scenarios/quikstart.yaml",
]
ALLOWED = [
    "fedsim run a.yaml -o b.h5 --set a=1 2>/dev/null | head", "fedsim sweep a.yaml --jobs 2 && fedsim sweep status a",
    "fedsim compare --a x y --b z w --alpha 0.1", "for a in 1 2; do fedsim run a.yaml --seed $a; done", "fedsim run …",
]
ENDS = re.compile(r"[|;&<>()]+$")


def commands(text):
    """The lines of shell in a page, each with its number: blocks, indented lines, and code within lines."""
    for block in FENCE.finditer(text):
        if block[2] in SHELL:
            yield from lines(block[3], text.count("\n", 0, block.start()) + 2)
    rest = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    for number, line in enumerate(rest.splitlines(), 1):
        if line.startswith("    "):
            yield number, line.strip()
    for span in SPAN.finditer(rest):
        yield rest.count("\n", 0, span.start()) + 1, span[1].replace("\n", " ")


def lines(block, first):
    number, joined = first, ""
    for line in block.splitlines():
        if line.endswith("\\"):
            joined += line[:-1] + " "
        else:
            yield number, joined + line
            joined = ""
        number += 1


def calls(line):
    """The words of each call of fedsim in a line, without what belongs to the shell."""
    lexer = shlex.shlex(line.replace("$(", "( "), posix=True, punctuation_chars="|;&<>()")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    try:
        words = list(lexer)
    except ValueError:
        return
    for place, word in enumerate(words):
        if not re.fullmatch(r"(\.build/release/|\./)?fedsim", word):
            continue
        if place and words[place - 1] in ("command", "install", "which", "-x", "-c", "complete", "man", "import", "pip"):
            continue
        if any(one.endswith(".py") for one in words[:place]):
            continue
        call = []
        for one in words[place + 1:]:
            if ENDS.match(one) or set(one) == {":"}:
                if one.startswith((">", "<")):
                    call = call[:-1] if call and call[-1].isdigit() else call
                break
            if one.strip("[]"):
                call.append(one.strip("[]"))
        yield call


def named(argument):
    return ["-" * (1 if name["kind"] == "short" else 2) + name["name"] for name in argument.get("names", [])]


def fault(call, command):
    """What is wrong with a call, or nothing."""
    path = ["fedsim"]
    words = list(call)
    while words and not words[0].startswith("-"):
        below = {one["commandName"]: one for one in command.get("subcommands", [])}
        if words[0] not in below:
            if below and "defaultSubcommand" not in command and words[0] not in OPEN:
                if words[0].isupper() or not re.fullmatch(r"[a-z-]+", words[0]):
                    return None
                near = difflib.get_close_matches(words[0], below, 1)
                return f"`{' '.join(path)}` has no command `{words[0]}`" + (f"; `{near[0]}`?" if near else "")
            break
        command = below[words.pop(0)]
        path.append(command["commandName"])
    if command.get("defaultSubcommand"):
        command = next(one for one in command["subcommands"] if one["commandName"] == command["defaultSubcommand"])
    arguments = command.get("arguments", [])
    options = {name: one for one in arguments for name in named(one)}
    places = [one for one in arguments if one["kind"] == "positional"]
    if words == ["--version", "--verbose"]:  # The command takes the second itself.
        return None
    given = 0
    while words:
        word = words.pop(0)
        if any(word.startswith(mark) or word.endswith(mark) for mark in OPEN) or word == "--" or word == "-":
            continue
        if not word.startswith("-") or re.fullmatch(r"-\d.*", word):
            given += 1
            continue
        name, equals, _ = word.partition("=")
        if name not in options:
            near = difflib.get_close_matches(name, options, 1)
            return f"`{' '.join(path)}` has no option `{name}`" + (f"; `{near[0]}`?" if near else "")
        if options[name]["kind"] == "flag" and equals:
            return f"`{name}` takes no value"
        if options[name]["kind"] == "option" and not equals:
            if options[name]["parsingStrategy"] == "upToNextOption":
                while words and not words[0].startswith("-"):
                    words.pop(0)
            elif words:
                words.pop(0)
    if given > len(places) and not any(one["isRepeating"] for one in places):
        return f"`{' '.join(path)}` takes {len(places)} arguments, not {given}"
    return None


def absent(line):
    """Scenarios and targets that a line names and the project does not have."""
    for path in re.findall(r"(?<![\w/.-])(?:scenarios|Examples)/[\w./*{},-]+", line):
        path = path.rstrip(".,")
        if not any(mark in path for mark in "{}") and "NAME" not in path and not (
                glob.glob(str(ROOT / path)) or glob.glob(str(ROOT / "Examples/*" / path))):
            yield f"there is no `{path}`"
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    found = re.match(r"\$? ?make ((?:[a-z0-9-]+ ?)+)", line)
    for target in found[1].split() if found else []:
        if target not in targets:
            yield f"make has no target `{target}`"


def wrongs(line, root):
    found = list(absent(line))
    if root is not None and "fedsim" in line:
        found += [fault(call, root) for call in calls(line)]
    return [one for one in found if one]


def main():
    root = None
    if len(sys.argv) > 1:
        dump = subprocess.run([sys.argv[1], "--experimental-dump-help"], capture_output=True, text=True, check=True).stdout
        root = json.loads(dump)["command"]
    faults, count = [], 0
    pages = sorted({path for pattern in PAGES for path in ROOT.glob(pattern) if path.is_file()})
    for page in pages:
        text = page.read_text("utf-8")
        found = commands(text) if page.suffix == ".md" else enumerate(text.splitlines(), 1)
        for number, line in found:
            count += sum(1 for _ in calls(line)) if "fedsim" in line else 0
            faults += [f"{page.relative_to(ROOT)}:{number}: {one}: {line.strip()}" for one in wrongs(line, root)]
    if root is not None:
        faults += [f"not found: {line}" for line in PLANTED if not wrongs(line, root)]
        faults += [f"found in {line}: {wrongs(line, root)}" for line in ALLOWED if wrongs(line, root)]
    for one in faults:
        print(one, file=sys.stderr)
    checked = "parsed" if root else "not parsed, as there is no program"
    print(f"commands: {len(pages)} pages, {count} calls of fedsim {checked}, {len(faults)} faults")
    sys.exit(1 if faults or not count else 0)


if __name__ == "__main__":
    main()
