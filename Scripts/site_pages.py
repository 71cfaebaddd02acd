"""Makes the pages of the site from the repository (a hook of mkdocs; `make docs`).

The site's pages are docs/, the README and every file that one of them links to: a page of Markdown as it is, another
text as a page that shows it, a folder as its README.md or as a list of its files. Links are rewritten accordingly, so
that a page is written for a forge and reads the same on the site. A link to a file that does not exist is an error.
"""
import json
import posixpath
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, InclusionLevel

ROOT = Path(__file__).resolve().parent.parent
PICTURES = (".svg", ".png", ".jpg", ".csv")
LANGUAGES = {
    ".yaml": "yaml", ".yml": "yaml", ".cff": "yaml", ".py": "python", ".swift": "swift", ".toml": "toml", ".json": "json",
    ".def": "singularity", ".sh": "bash",
}
# Code, then a link or a picture: code is left alone.
CODE_OR_LINK = re.compile(r"(?P<code>^ {0,3}(`{3,}).*?^ {0,3}\2`*\s*$|(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))"
                          r"|(?P<head>!?\[(?:[^\[\]`]|`[^`]*`|!?\[[^\]]*\]\([^)]*\))*\]\()(?P<target>[^)\s]+)(?P<tail>\))",
                          re.M | re.S)
# Pages that are found less readily: they say why FedSim is built as it is, not how it is used.
BACKGROUND = ("design/", "DESIGN.md", "CHANGELOG.md", "CONTRIBUTING.md", "Sources/", "licences.md", "Benchmarks/")

pages: dict[str, str] = {}  # The site's path of a page, and what it is made of, relative to ROOT.


def version():
    return re.search(r'current = "(.*)"', (ROOT / "Sources/Runs/FedSimVersion.swift").read_text("utf-8")).group(1)


def place(path):
    """The site's path of what the repository has at `path`."""
    if path == "README.md":
        return "index.md"
    if (ROOT / path).is_dir():
        return place(f"{path}/README.md") if (ROOT / path / "README.md").exists() else f"files/{path}/index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return path if path.endswith((".md",) + PICTURES) else f"files/{path}.md"


def outward(target):
    return not re.match(r"[a-z]+:|#|/", target)


def links(path, text):
    """What the page at `path` links to, relative to ROOT."""
    for match in CODE_OR_LINK.finditer(text):
        target = match["target"]
        if target and outward(target):
            yield resolved(path, target)


def resolved(path, target):
    found = posixpath.normpath(posixpath.join(posixpath.dirname(path), target.partition("#")[0]))
    if found.startswith("..") or not (ROOT / found).exists():
        raise PluginError(f"{path}: the link {target} leads to nothing")
    return found


def contents(path):
    return sorted(one.name for one in (ROOT / path).iterdir() if one.is_file() and not one.name.startswith("."))


def shown(path):
    """The page that shows the text or the folder at `path`."""
    file = ROOT / path
    if file.is_dir():
        return f"# {path}\n\n" + "".join(f"- [{name}]({name})\n" for name in contents(path))
    text = file.read_text("utf-8")
    if path.endswith(".ipynb"):
        return notebook(path, json.loads(text))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"# {path}\n\n{fence}{LANGUAGES.get(file.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


def notebook(path, content):
    parts = [f"# {path}\n"]
    for cell in content["cells"]:
        text = "".join(cell["source"])
        parts.append(re.sub("^#", "##", text, flags=re.M) if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    return "\n\n".join(parts) + "\n"


def on_config(config):
    config.site_name = f"FedSim {version()}"
    listed = set(re.findall(r"[\w./-]+\.md", json.dumps(config.nav)))
    rest = sorted(
        page.name for page in (ROOT / "docs").glob("*.md") if page.name not in listed)
    if rest:
        config.nav.append({"More": rest})
    return config


def on_files(files, config):
    pages.clear()
    wanted = ["README.md"] + [f"docs/{file.src_uri}" for file in files if file.is_documentation_page()]
    wanted += [path for path in re.findall(r"[\w./-]+\.md", json.dumps(config.nav)) if not (ROOT / "docs" / path).exists()]
    while wanted:
        path = "README.md" if wanted[-1] == "index.md" else wanted[-1]
        del wanted[-1]
        uri = place(path)
        if uri in pages:
            continue
        if uri.endswith("/README.md") and (ROOT / path).is_dir():
            path += "/README.md"
        pages[uri] = path
        source = {"abs_src_path": str(ROOT / path)}
        if uri.startswith("files/"):
            source = {"content": shown(path)}
            if (ROOT / path).is_dir():
                wanted += [f"{path}/{name}" for name in contents(path)]
        elif path.endswith(".md"):
            wanted += links(path, (ROOT / path).read_text("utf-8"))
        if files.get_file_from_path(uri) is None:
            files.append(File.generated(config, uri, inclusion=InclusionLevel.NOT_IN_NAV, **source))
    return files


def on_page_markdown(markdown, page, config, **_):
    uri = page.file.src_uri
    path = pages[uri]
    page.meta["tags"] = config.extra["keywords"].get(uri, [])
    if uri.startswith("files/"):
        page.meta["search"] = {"exclude": True}
    elif uri.startswith(BACKGROUND) and uri != "design/randomness.md":
        page.meta["search"] = {"boost": 0.25}

    def rewritten(match):
        target = match["target"]
        if not target:
            return match[0]
        head = match["head"]
        if "](" in head[:-2]:  # A picture that is a link.
            head = CODE_OR_LINK.sub(rewritten, head[:-2]) + "]("[-2:]
        if not outward(target):
            return head + target + match["tail"]
        file, mark, anchor = target.partition("#")
        found = place(resolved(path, file))
        return head + posixpath.relpath(found, posixpath.dirname(uri) or ".") + mark + anchor + match["tail"]

    if uri.startswith("files/"):
        if not (ROOT / path).is_dir():
            return markdown
        return re.sub(r"\]\((.*?)\)", lambda one: "](" + posixpath.relpath(
            place(f"{path}/{one[1]}"), posixpath.dirname(uri)) + ")", markdown)
    return CODE_OR_LINK.sub(rewritten, markdown)
