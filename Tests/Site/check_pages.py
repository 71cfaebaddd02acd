"""Looks at the pages that `make docs` wrote.

    check_pages.py SITE

A page has the same elements as on a forge: paragraphs, lists, tables, code and headings are counted in its article and in
the page of Markdown as CommonMark has it. No page loads anything from elsewhere. Each link leads to a file of the site and
to a place in it. Every page of docs/ is in the navigation of the first page. Exit code 1 names each page.
"""
import html.parser
import pathlib
import re
import sys
import urllib.parse

from markdown_it import MarkdownIt

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNTED = (
    "p", "ul", "ol", "li", "table", "th", "td", "pre", "code", "h1", "h2", "h3", "h4", "em", "strong", "blockquote", "img",
)


class Page(html.parser.HTMLParser):
    """How often each element occurs, what is loaded and where links lead; of the article alone, if the page has one."""

    def __init__(self, text):
        super().__init__()
        self.counts, self.loaded, self.linked, self.places = dict.fromkeys(COUNTED, 0), [], [], set()
        self.whole = "<article" not in text
        self.inside = self.whole
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.inside |= tag == "article"
        if self.inside and tag in self.counts:
            self.counts[tag] += 1
        self.places |= {values.get("id"), values.get("name")}
        if tag == "a":
            self.linked.append(values.get("href") or "")
        elif tag in ("script", "img", "iframe", "source") and values.get("src"):
            self.loaded.append(values["src"])
        elif tag == "link" and values.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(values.get("href") or "")

    def handle_endtag(self, tag):
        if tag == "article" and not self.whole:
            self.inside = False


def dead(site, pages):
    """Links of the site's pages that lead to no file, or to no place in it."""
    for path, page in pages.items():
        for link in sorted(set(page.linked)) if path.name != "404.html" else ():
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            place = urllib.parse.unquote(parts.fragment)
            if not target.exists() or place and target in pages and place not in pages[target].places:
                yield f"{path.relative_to(site)}: the link {link} leads to nothing"


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    markdown = MarkdownIt("commonmark").enable("table")
    faults, count = [], 0
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(site.glob("**/*.html"))}
    navigation = set(pages[site / "index.html"].linked)
    faults += dead(site, pages)
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        faults += [f"{name}: loads {one}" for one in page.loaded if re.match(r"(https?:)?//", one)]
    for path in sorted(site.glob("**/*.css")):
        if re.search(r"url\(\s*[\"']?(https?:)?//", path.read_text("utf-8")):
            faults.append(f"{path.relative_to(site)}: loads from elsewhere")
    for source in sorted((ROOT / "docs").glob("**/*.md")):
        name = source.relative_to(ROOT / "docs").as_posix()
        made = name.replace("README.md", "index.md").removesuffix(".md") + ".html"
        if not (site / made).exists():
            faults.append(f"docs/{name} is not on the site")
            continue
        count += 1
        wanted = Page(markdown.render(source.read_text("utf-8"))).counts
        found = pages[site / made].counts
        faults += [f"docs/{name}: {wanted[tag]} <{tag}> on a forge, {found[tag]} on the site"
                   for tag in COUNTED if wanted[tag] != found[tag]]
        if made not in navigation and not name.startswith("design/"):
            faults.append(f"docs/{name} is not in the navigation")
    for one in faults:
        print(one, file=sys.stderr)
    links = sum(len(page.linked) for page in pages.values())
    print(f"pages: {links} links, {count} pages with the elements that a forge shows, {len(faults)} faults")
    sys.exit(1 if faults or not count else 0)


if __name__ == "__main__":
    main()
