"""Asks the site's search the questions of questions.csv: one of a question's pages has to be among the first three hits.

    check_search.py SITE [QUESTION]

The index is the site's own (search/search_index.json), read by lunr as the site's script reads it: the same separator,
fields and words to leave out; each word of a question is the beginning of a word; sections count for their page, and
a section with more of the words counts for more. With QUESTION prints the first hits. Exit code 1 names each question
that is not answered.
"""
import csv
import json
import pathlib
import re
import sys

from lunr.builder import Builder
from lunr.stop_word_filter import stop_word_filter

HITS = 3
SCRIPT = (pathlib.Path(__file__).resolve().parents[2] / "docs/assets/search-and-iframe-worker.js").read_text("utf-8")
ASKS_NOTHING = set(" ".join(re.findall(r'"([^"]*)"', re.search(r"new Set\((.*?)\.split", SCRIPT, re.S)[1])).split())


def asked(question):
    """The question as docs/assets/search-and-iframe-worker.js puts it."""
    words = [re.sub(r"[?!.,]+$", "", word) for word in question.split()]
    kept = [word for word in words if word.lower() not in ASKS_NOTHING] or words
    return " ".join(re.sub(r"([^s]{3})s$", r"\1", word, flags=re.I) for word in kept)



def text_of(page):
    return re.sub(r"<[^>]*>", " ", page)


class Search:
    def __init__(self, index):
        self.separator = re.compile(index["config"]["separator"])
        self.documents = {one["location"]: one for one in index["docs"]}
        builder = Builder()
        builder.b(0)
        builder.pipeline.reset()
        builder.search_pipeline.reset()
        builder.pipeline.add(stop_word_filter)
        builder.search_pipeline.add(stop_word_filter)
        builder.ref("location")
        for name, field in index["config"]["fields"].items():
            builder.field(name, boost=field["boost"])
        for one in index["docs"]:
            words = {name: self.words(text_of(one.get(name, ""))) for name in ("title", "text")}
            words["tags"] = self.words(" ".join(one.get("tags", [])))
            builder.add({"location": one["location"], **words}, {"boost": one.get("boost", 1)})
        self.index = builder.build()

    def words(self, text):
        return [word for word in self.separator.split(text.lower()) if word]

    def pages(self, question):
        """The pages that answer, the best first."""
        words = self.words(asked(question))
        scores = {}
        for hit in self.index.search(" ".join(f"{word}*" for word in words)):
            found = list(hit["match_data"].metadata)
            share = sum(any(one.startswith(word) for one in found) for word in words) / len(words)
            score = hit["score"] * (1 + (("#" not in hit["ref"]) + share) ** 2)
            page = hit["ref"].partition("#")[0]
            if score > scores.get(page, (0, ""))[0]:
                scores[page] = score, hit["ref"]
        return sorted(scores, key=lambda page: -scores[page][0]), scores


def main():
    search = Search(json.loads(pathlib.Path(sys.argv[1], "search/search_index.json").read_text("utf-8")))
    if len(sys.argv) > 2:
        pages, scores = search.pages(sys.argv[2])
        for page in pages[:10]:
            print(f"{scores[page][0]:10.1f}  {scores[page][1]}")
        return
    with open(pathlib.Path(__file__).parent / "questions.csv", encoding="utf-8", newline="") as file:
        questions = list(csv.DictReader(file))
    bad = 0
    for row in questions:
        wanted, found = row["page"].split(), search.pages(row["question"])[0]
        for page in wanted:
            if page not in search.documents:
                sys.exit(f"questions.csv: the site has no page {page}")
        if not set(wanted) & set(found[:HITS]):
            bad += 1
            print(f"search: {row['question']}: {', '.join(found[:HITS])}; expected {' or '.join(wanted)}", file=sys.stderr)
    print(f"search: {len(questions)} questions, {len(questions) - bad} answered among the first {HITS} pages")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
