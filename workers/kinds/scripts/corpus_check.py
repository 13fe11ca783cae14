"""What a corpus holds that a training should not see: empty and repeated texts, the test set.

Arguments: corpus (JSON lines, csv or text; one file), column of the text, test set or "", words of
a passage that must not be shared. Writes `cleaning.report.json`. Standard library only; nothing is
changed.
"""

import csv
import hashlib
import json
import os
import re
import sys
import unicodedata
from collections import Counter

WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")
SCRIPTS = (("CJK", "Han"), ("HIRAGANA", "Japanese"), ("KATAKANA", "Japanese"),
           ("HANGUL", "Korean"), ("LATIN", "Latin"), ("CYRILLIC", "Cyrillic"),
           ("ARABIC", "Arabic"))
SHOWN = 20


def texts(path, column):
    """(number, text) of every record; a record without the column has none."""
    with open(path, encoding="utf-8", errors="replace", newline="") as stream:
        if path.endswith(".csv"):
            for number, row in enumerate(csv.DictReader(stream), 1):
                yield number, row.get(column)
            return
        is_json = path.endswith((".json", ".jsonl"))
        for number, line in enumerate((line for line in stream if line.strip()), 1):
            yield number, json.loads(line).get(column) if is_json else line


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


def main(corpus, column, tests, length):
    corpus, tests, length = os.path.expanduser(corpus), os.path.expanduser(tests), int(length)
    known, test_rows = set(), 0
    for _number, text in texts(tests, column) if tests else ():
        test_rows += 1
        known |= passages(WORD.findall((text or "").lower()), length)
    if tests and not known:
        print("desk: the test set holds no text in that column")
        return 2
    report = {"desk_report": "cleaning", "rows": 0, "missing": 0, "empty": 0, "repeated": 0,
              "leaked": 0, "control": 0, "column": column, "test_rows": test_rows,
              "passage": length, "examples": {"repeated": [], "leaked": [], "control": []}}
    seen, scripts = {}, Counter()
    for number, text in texts(corpus, column):
        report["rows"] += 1
        if text is None:
            report["missing"] += 1
            continue
        words = WORD.findall(str(text).lower())
        if not words:
            report["empty"] += 1
            continue
        scripts[script_of(text)] += 1
        whole = key(words)
        found = {"repeated": whole in seen,
                 "leaked": bool(known) and not known.isdisjoint(passages(words, length)),
                 "control": any(unicodedata.category(c) == "Cc" and c not in "\t\r\n"
                                for c in text)}
        for what in (name for name, is_so in found.items() if is_so):
            report[what] += 1
            if len(report["examples"][what]) < SHOWN:
                report["examples"][what].append(number)
        seen.setdefault(whole, number)
    report["scripts"] = dict(scripts.most_common())
    with open("cleaning.report.json", "w", encoding="utf-8") as stream:
        json.dump(report, stream, indent=1, ensure_ascii=False)
    print(f"{report['rows']} records looked at")
    return 0 if report["rows"] else 3


sys.exit(main(*sys.argv[1:5]))
