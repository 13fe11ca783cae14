"""Whether readers and comparison tell a wrong figure of a changed file without a word.

    python -m benchmarks.reader_mutants [--mutants 1000] [--seed 13]

Changes the genuine samples at random: a figure, a line that is left out, two columns of a table
with their header, a break at 80 or 120 columns, a prefix before each line. A figure that a reading
shows as the file prints it has to stand in the changed file; broken and prefixed files, and those
with swapped columns, have to give the same figures. Otherwise the reading refuses or warns. Two
training logs that differ in a loss that counts must not compare as equal. Fails with the first ten
that do.
"""

import argparse
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import isclose, isnan
from pathlib import Path
from typing import Any

from toolreaders import ReadError, Reading, read_file
from toolreaders.training.series import read_series
from toolreaders.verdicts.log_comparison import compare_logs
from toolreaders.verdicts.verdict import Rule

SAMPLES = Path(__file__).parents[1] / "tests/samples"
LARGEST = 60_000
LIMIT = Decimal("0.02")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
FRACTION = re.compile(r"(?<![\w.])\d+\.\d+(?:[eE][-+]?\d+)?(?![\w.])")
NAMED = re.compile(r"\w+: *\[? *\d")
PLACES = re.compile(r"(?:^|\.)(?:lines?|row|\w+_line|line_\w+)(?:\.|$)")
COMPUTED = re.compile(r"\.(?:mean|median\w*|\w+_per_card|throughput\.tflops)$")
"""Figures that readers compute; a file of an odd number of times prints its median too."""
COMPUTES_ALIKE = 1e-6
"""ais_bench prints a rate that its reader computes, and its mean time with digits beyond that."""
LEAST_ROWS = 3
PREFIXES = ("2025-02-06T08:11:{:02}.123456789Z stdout F ", "[pod/train-0/main] ", "> ",
            "(WorkerDict pid=123) ", "Feb  6 08:11:{:02} node1 python[12]: ",
            "(Worker_TP3 pid=12) ERROR 10-12 08:11:{:02} [worker.py:59] ")
Figures = dict[str, float]


@dataclass(frozen=True)
class Sample:
    """A genuine file and its reading."""

    path: Path
    text: str
    reading: Reading


def samples() -> list[Sample]:
    """Every text of the samples that is read."""
    found = []
    for path in sorted(SAMPLES.rglob("*")):
        if not path.is_file() or path.stat().st_size > LARGEST:
            continue
        try:
            text = path.read_text(encoding="utf-8")
            found.append(Sample(path, text, read_file(path)))
        except (ReadError, UnicodeDecodeError):
            continue
    return found


def changed_figure(text: str, chance: random.Random) -> str | None:
    """Another digit in one fraction."""
    places = list(FRACTION.finditer(text))
    if not places:
        return None
    found = chance.choice(places)
    at = found.start() + chance.choice([n for n, sign in enumerate(found[0]) if sign.isdigit()])
    digit = chance.choice([sign for sign in "123456789" if sign != text[at]])
    return text[:at] + digit + text[at + 1 :]


def dropped_line(text: str, chance: random.Random) -> str | None:
    lines = text.splitlines(keepends=True)
    if len(lines) < 3:
        return None
    del lines[chance.randrange(len(lines))]
    return "".join(lines)


def swapped_columns(text: str, chance: random.Random) -> str | None:
    """Two columns of a CSV table or of a table of bars, with their header; the fields of a log's
    lines, each with its name, are no columns: in another order they may be another tool's."""
    lines = text.splitlines()
    if lines and NAMED.match(lines[0]):
        return None
    separator = "," if "," in (lines or [""])[0] else "|"
    rows = [line.split(separator) for line in lines]
    width = Counter(len(row) for row in rows).most_common(1)[0][0] if rows else 0
    is_table = sum(len(row) == width for row in rows) >= LEAST_ROWS
    if width < 4 or not is_table or '"' in text or any(len(row) not in (1, width) for row in rows):
        return None
    one, other = chance.sample(range(1, width - 1), 2)
    for row in rows:
        if len(row) == width:
            row[one], row[other] = row[other], row[one]
    return "\n".join(separator.join(row) for row in rows) + "\n"


def wrapped(text: str, chance: random.Random) -> str | None:
    """As a terminal of 80 or 120 columns shows it; None for files whose lines all fit."""
    width = chance.choice((80, 120))
    if max(map(len, text.splitlines()), default=0) <= width or text.lstrip()[:1] in "[{":
        return None
    return "".join(line[start : start + width] + "\n" for line in text.splitlines()
                   for start in range(0, max(len(line), 1), width))  # fmt: skip


def prefixed(text: str, chance: random.Random) -> str | None:
    if text.count("\n") < 4:
        return None
    prefix = chance.choice(PREFIXES)
    lines = enumerate(text.splitlines(keepends=True))
    return "".join(prefix.format(n % 60) + line for n, line in lines)


CHANGES = (changed_figure, dropped_line, swapped_columns, wrapped, prefixed)
SAME = (swapped_columns, wrapped, prefixed)


def figures(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Path and value of every number of a reading, but those of lines."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from figures(item, f"{path}.{key}")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from figures(item, f"{path}.{place}")
    elif isinstance(value, int | float) and not isinstance(value, bool) and not PLACES.search(path):
        yield path, float(value)


def printed(text: str) -> set[float]:
    return {float(found[0]) for found in NUMBER.finditer(text.replace(",", " "))} | {
        float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*\.?\d*", text)
        if found.replace(",", "").strip(".")}  # fmt: skip


def wrong_figures(sample: Sample, text: str, reading: Reading, *, same: bool) -> list[str]:
    """What the reading of the changed text shows and the text does not hold."""
    known = Counter(warning.code for warning in sample.reading.warnings)
    if Counter(warning.code for warning in reading.warnings) - known:
        return []
    before, after = dict(figures(sample.reading.values)), dict(figures(reading.values))
    both = before.keys() & after.keys()
    if same:
        return [f"{path}: {before[path]} -> {after[path]}" for path in both
                if before[path] != after[path]]  # fmt: skip
    in_sample, in_text = printed(sample.text), printed(text)
    return [f"{path}: {after[path]} is not in the file" for path in both
            if before[path] % 1 and before[path] in in_sample and not COMPUTED.search(path)
            and not any(isclose(after[path], one, rel_tol=COMPUTES_ALIKE) for one in in_text)]


def compares_as_equal(sample: Sample, path: Path) -> bool:
    """Whether the comparison finds no difference between curves that differ."""
    try:
        one, other = read_series(sample.path), read_series(path)
        figure = compare_logs(sample.path, path, Rule(), LIMIT).values(Rule(), LIMIT, "%")
    except ReadError:
        return False
    if "record" in (one.step_unit, other.step_unit):  # aligned by epochs, not by these numbers
        return False
    losses = dict(zip(one.steps, one.losses, strict=True))
    common = [(losses[step], loss) for step, loss in zip(other.steps, other.losses, strict=True)
              if step in losses]  # fmt: skip
    differs = any(first != second and not isnan(first) for first, second in common)
    return differs and figure["figures"].get("max_relative_error") == 0


def run(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """What became of so many mutants, and the silent wrong figures among them."""
    chance, known = random.Random(seed), samples()
    outcomes, wrong = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        while outcomes.total() < count:
            sample, change = chance.choice(known), chance.choice(CHANGES)
            text = change(sample.text, chance)
            if text is None or text == sample.text:
                continue
            path.write_text(text, encoding="utf-8")
            try:
                reading = read_file(path)
            except ReadError:
                outcomes[f"{change.__name__}: refused"] += 1
                continue
            found = wrong_figures(sample, text, reading, same=change in SAME)
            if compares_as_equal(sample, path):
                found.append("compared as equal")
            outcomes[f"{change.__name__}: {'wrong' if found else 'told'}"] += 1
            name = sample.path.relative_to(SAMPLES)
            wrong += [f"{change.__name__} {name} ({reading.reader}): {one}" for one in found[:3]]
    return outcomes, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=13)
    options = parser.parse_args()
    outcomes, wrong = run(options.mutants, options.seed)
    for name, count in sorted(outcomes.items()):
        print(f"{count:5} {name}")
    print(*wrong[:10], sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
