"""What a corpus holds that a training should not see: empty and repeated texts, the test set.

Arguments: corpus (JSON lines, csv or text; one file), column of the text, test set or "", words of
a passage that must not be shared, and for a cleaning its limits as JSON. Writes
`cleaning.report.json`; a cleaning writes the kept records to another file and the rest to
`removed.jsonl`. Standard library only; the corpus itself is never changed.
"""

import csv
import hashlib
import json
import math
import os
import random
import re
import sys
import unicodedata
from collections import Counter

WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")
SCRIPTS = (("CJK", "Han"), ("HIRAGANA", "Japanese"), ("KATAKANA", "Japanese"),
           ("HANGUL", "Korean"), ("LATIN", "Latin"), ("CYRILLIC", "Cyrillic"),
           ("ARABIC", "Arabic"))
TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>|&(?:nbsp|amp|lt|gt|quot|#\d{1,6});")
LINK = re.compile(r"https?://|\bwww\.", re.IGNORECASE)
SHOWN = 20
MOST_SHOWN, MOST_MODELLED = 2_000, 20_000  # characters of a text
MOST_SAMPLED = 100_000  # records whose figures make the spread


def texts(path, column):
    """(number, text, line) of every record; a record without the column has no text."""
    with open(path, encoding="utf-8", errors="replace", newline="") as stream:
        if path.endswith(".csv"):
            for number, row in enumerate(csv.DictReader(stream), 1):
                yield number, row.get(column), json.dumps(row, ensure_ascii=False)
            return
        is_json = path.endswith((".json", ".jsonl"))
        for number, line in enumerate((line for line in stream if line.strip()), 1):
            yield number, json.loads(line).get(column) if is_json else line, line


def script_of(text):
    """The script that most letters of the beginning belong to."""
    found = Counter()
    for letter in text[:400]:
        if letter.isalpha():
            name = unicodedata.name(letter, "")
            found[next((label for key, label in SCRIPTS if name.startswith(key)), "other")] += 1
    return found.most_common(1)[0][0] if found else "none"


def key(words):
    return hashlib.blake2b(" ".join(words).encode(), digest_size=8).digest()


def passages(words, length):
    """Keys of all passages of so many words; a shorter text is one passage."""
    if len(words) <= length:
        return {key(words)} if words else set()
    return {key(words[n:n + length]) for n in range(len(words) - length + 1)}


def figures(text, words, phrase, model):
    """What the limits are held against: lengths, shares between 0 and 1, perplexity."""
    signs = sum(unicodedata.category(c)[0] in "PS" for c in text)
    phrases = [tuple(words[n:n + phrase]) for n in range(len(words) - phrase + 1)]
    repeated = 1 - len(set(phrases)) / len(phrases) if phrases else 0
    return {"words": len(words), "punctuation": signs / len(text), "repetition": repeated,
            "html": len(TAG.findall(text)), "links": len(LINK.findall(text)),
            "perplexity": model.perplexity(text) if model else None}


class Trigrams:
    """Characters of a reference text by the two before them, each seen once more than it was."""

    def __init__(self, lines):
        self.after, self.before, self.signs = Counter(), Counter(), set()
        for line in lines:
            text = "  " + line.lower()
            self.signs.update(text)
            for n in range(2, len(text)):
                self.after[text[n - 2:n + 1]] += 1
                self.before[text[n - 2:n]] += 1

    def perplexity(self, text):
        text, many = "  " + text.lower()[:MOST_MODELLED], len(self.signs) + 1
        logs = [math.log((self.after[text[n - 2:n + 1]] + 1) / (self.before[text[n - 2:n]] + many))
                for n in range(2, len(text))]
        return math.exp(-sum(logs) / len(logs))


def broken(found, limits, wanted_script, script, listed, words):
    """Reasons for which a record goes, in the order of the limits."""
    if wanted_script and script != wanted_script:
        yield "language"
    for name, (low, high) in limits.items():
        value = found[name]
        if value is not None and (
                (low is not None and value < low) or (high is not None and value > high)):
            yield name
    if listed and not listed.isdisjoint(words):
        yield "listed"


def spread(values):
    """Least, median, 95 of a hundred, largest: to choose limits by."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return [round(ordered[n], 4) for n in (0, last // 2, last * 95 // 100, last)] if ordered else []


def main(corpus, column, tests, length, asked="{}"):
    corpus, tests, length = os.path.expanduser(corpus), os.path.expanduser(tests), int(length)
    asked = json.loads(asked)
    known, test_rows = set(), 0
    for _number, text, _raw in texts(tests, column) if tests else ():
        test_rows += 1
        known |= passages(WORD.findall((text or "").lower()), length)
    if tests and not known:
        print("desk: the test set holds no text in that column")
        return 2
    report = {"desk_report": "cleaning", "rows": 0, "missing": 0, "empty": 0, "repeated": 0,
              "leaked": 0, "control": 0, "column": column, "test_rows": test_rows,
              "passage": length, "examples": {"repeated": [], "leaked": [], "control": []}}
    cleaning = Cleaning(asked, column) if asked else None
    seen, scripts = {}, Counter()
    for number, text, raw in texts(corpus, column):
        report["rows"] += 1
        words = WORD.findall(str(text).lower()) if text is not None else []
        if not words:
            report["missing" if text is None else "empty"] += 1
            if cleaning:
                cleaning.drop(number, ["missing" if text is None else "empty"], text or "", {})
            continue
        script, whole = script_of(text), key(words)
        scripts[script] += 1
        found = {"repeated": whole in seen,
                 "leaked": bool(known) and not known.isdisjoint(passages(words, length)),
                 "control": any(unicodedata.category(c) == "Cc" and c not in "\t\r\n"
                                for c in text)}
        for what in (name for name, is_so in found.items() if is_so):
            report[what] += 1
            if len(report["examples"][what]) < SHOWN:
                report["examples"][what].append(number)
        seen.setdefault(whole, number)
        if cleaning:
            cleaning.look(number, text, raw, words, script,
                          [name for name in ("repeated", "leaked") if found[name]])
    report["scripts"] = dict(scripts.most_common())
    if cleaning:
        report.update(cleaning.close())
    with open("cleaning.report.json", "w", encoding="utf-8") as stream:
        json.dump(report, stream, indent=1, ensure_ascii=False)
    print(f"{report['rows']} records looked at")
    return 0 if report["rows"] else 3


class Cleaning:
    """Writes what is kept to `output`, as it was, and what goes to `removed.jsonl`, with why."""

    def __init__(self, asked, column):
        self.asked, self.reasons, self.first = asked, Counter(), Counter()
        self.chance = random.Random(0)
        self.kept, self.sums, self.values = 0, hashlib.sha256(), {}
        reference = os.path.expanduser(asked.get("reference") or "")
        self.model = Trigrams(text for _n, text, _raw in texts(reference, column)
                              if text) if reference else None
        listed = os.path.expanduser(asked.get("listed") or "")
        self.listed = set()
        for _n, line, _raw in texts(listed, column) if listed else ():
            self.listed.update(WORD.findall((line or "").lower()))
        path = os.path.expanduser(asked["output"])
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self.output = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115
        self.removed = open("removed.jsonl", "w", encoding="utf-8")  # noqa: SIM115

    def look(self, number, text, raw, words, script, reasons):
        found = figures(text, words, self.asked["phrase"], self.model)
        for name, value in found.items():
            if value is not None:
                self.sample(self.values.setdefault(name, []), value, number)
        reasons = reasons + list(broken(found, self.asked["limits"], self.asked.get("script"),
                                        script, self.listed, words))
        if reasons:
            self.drop(number, reasons, text, found)
            return
        line = raw.rstrip("\r\n") + "\n"
        self.output.write(line)
        self.sums.update(line.encode())
        self.kept += 1

    def sample(self, values, value, number):
        """As many as fit, each record with the same chance; the same ones in every run."""
        if len(values) < MOST_SAMPLED:
            values.append(value)
        elif (place := self.chance.randrange(number)) < MOST_SAMPLED:
            values[place] = value

    def drop(self, number, reasons, text, found):
        self.reasons.update(reasons)
        self.first[reasons[0]] += 1
        shown = {name: round(value, 4) for name, value in found.items() if value is not None}
        json.dump({"record": number, "reasons": reasons, "figures": shown,
                   "text": str(text)[:MOST_SHOWN]}, self.removed, ensure_ascii=False)
        self.removed.write("\n")

    def close(self):
        for stream in (self.output, self.removed):
            stream.close()
        return {"kept": self.kept, "removed": sum(self.first.values()),
                "reasons": dict(self.reasons.most_common()), "sha256": self.sums.hexdigest(),
                "has_reference": self.model is not None,
                "spread": {name: spread(values) for name, values in self.values.items()}}


sys.exit(main(*sys.argv[1:6]))
