"""Opens the site as files, in headless Chromium, and asks its search the questions of questions.csv.

    check_offline.py SITE

No page makes a request beyond the site's files or writes to the console, and one of a question's pages is among the first
three hits, in the order that a reader sees. Exit code 1 names what is not so.
"""
import csv
import json
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "Browser"))

from check_report import Browser  # noqa: E402

ASK = """
(() => {
  const field = document.querySelector("[data-md-component=search-query]");
  document.getElementById("__search").checked = true;
  document.getElementById("__search").dispatchEvent(new Event("change"));
  field.focus();
  field.value = %s;
  field.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }));
  return true;
})()
"""
READ = """
[...document.querySelectorAll(".md-search-result__list > li")].map(
  (one) => decodeURI(one.querySelector("a").href.split(/[?#]/)[0]))
"""


def answered(browser, question, before):
    """The pages of the first hits, once they are others than before."""
    browser.value(ASK % json.dumps(question))
    for _ in range(100):
        time.sleep(0.02)
        hits = browser.value(READ)
        if hits and hits != before:
            time.sleep(0.03)
            return browser.value(READ)
    return before


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    with open(HERE / "questions.csv", encoding="utf-8", newline="") as file:
        questions = list(csv.DictReader(file))
    browser, faults, hits = Browser(), [], []
    try:
        browser.open()
        browser.heard = []
        browser.call("Page.navigate", url=(site / "index.html").as_uri())
        for _ in range(200):
            if browser.value("document.readyState") == "complete":
                break
            time.sleep(0.05)
        for row in questions:
            hits = answered(browser, row["question"], hits)
            first = [hit.removeprefix(site.as_uri() + "/") for hit in hits[:3]]
            if not set(first) & set(row["page"].split()):
                faults.append(f"{row['question']}: {', '.join(first)}; expected {row['page']}")
        for answer in browser.heard:
            method, parameters = answer.get("method"), answer.get("params", {})
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                faults.append(f"console: {json.dumps(parameters)[:300]}")
            url = parameters["request"]["url"] if method == "Network.requestWillBeSent" else "data:"
            if not url.startswith((site.as_uri(), "data:")):
                faults.append(f"request: {url}")
    finally:
        browser.close()
    for one in faults:
        print(f"offline: {one}", file=sys.stderr)
    print(f"offline: {len(questions)} questions in Chromium, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
