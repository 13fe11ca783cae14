"""Starts the shape detector of an instrumented copy (msfmktransplt) at one loop of the training.

Arguments: folder of the sources, of the copy, FILE:LINE of the loop in the sources, most rounds.
The tool inserts imports and calls but keeps the statements, so the loop is the same one by its
number in both files. Its items are counted: a report without rows says nothing of a loop that never
ran. The count lies in dynamic_shapes.report.json of the present folder when the training ends.
"""

import ast
import os
import sys

COUNTER = '''"""Counts what the detector saw; written by Delivery Desk."""
import atexit
import itertools
import json

from msft_dynamic_analysis.hook import DETECTOR

REPORT = %(report)r
SEEN = {"desk_report": "dynamic_shapes", "loop": %(loop)r, "iterable": %(iterable)r,
        "most": %(most)d, "steps": 0}


def watched(items):
    for item in DETECTOR.start(itertools.islice(items, SEEN["most"])):
        SEEN["steps"] += 1
        yield item


@atexit.register
def write():
    with open(REPORT, "w") as stream:
        json.dump(SEEN, stream)
'''


def loops(text):
    """The for statements of a file in the order of their lines."""
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.For)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def offset(lines, line, column):
    """Place of a position of ast, which counts columns in bytes, in the text's bytes."""
    return sum(len(part) for part in lines[:line - 1]) + column


def main():
    source, copy, place, most = sys.argv[1:5]
    name, _sign, line = place.rpartition(":")
    wanted = loops(read(os.path.join(source, name)))
    number = next((n for n, node in enumerate(wanted) if str(node.lineno) == line), None)
    if number is None:
        named = ", ".join(str(node.lineno) for node in wanted) or "none"
        sys.exit(f"desk: no for statement on line {line} of {name}; there are on lines {named}")
    path = os.path.join(copy, name)
    content = read(path).encode("utf-8")
    loop = loops(content.decode("utf-8"))[number].iter
    lines = content.splitlines(True)
    begin = offset(lines, loop.lineno, loop.col_offset)
    end = offset(lines, loop.end_lineno, loop.end_col_offset)
    iterable = content[begin:end]
    called = b"__import__('desk_loop').watched(" + iterable + b")"
    with open(path, "wb") as stream:
        stream.write(content[:begin] + called + content[end:])
    with open(os.path.join(copy, "desk_loop.py"), "w", encoding="utf-8") as stream:
        stream.write(COUNTER % {
            "report": os.path.abspath("dynamic_shapes.report.json"), "loop": place,
            "iterable": iterable.decode("utf-8"), "most": int(most)})


main()
