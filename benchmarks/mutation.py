"""How many random changes of the arithmetic its tests notice.

    python -m benchmarks.mutation [--sample 200] [--seed 13] [--module PATH]

Copies the checkout to a temporary folder, makes one small change at a time there with
[cosmic-ray](https://cosmic-ray.readthedocs.io) and runs the tests of the changed module. At most
one change per place and module is drawn, so that operators with many variants do not count
twelvefold; changes of type annotations are left out. Fails below 95 % noticed, survivors that
EQUIVALENT explains not counted. Takes some seconds per change: run it after work on the arithmetic.
"""

import argparse
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GOAL = 0.95
SECONDS = 120.0  # of a test run; a change that loops for ever is noticed
PYTEST = ("-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly")
VERDICTS, CURVES = "tests/assessments/verdicts", "tests/toolreaders/curves"
MONEY = ("tests/delivery/quotes/test_money.py", "tests/delivery/quotes/test_properties.py")
TESTS: dict[str, tuple[str, ...]] = {
    "toolreaders/curves/alignment.py": (CURVES, f"{VERDICTS}/test_verdict.py"),
    "toolreaders/curves/doubts.py": (CURVES,),
    "toolreaders/curves/sampling.py": (CURVES,),
    "assessments/performance/rounds.py": ("tests/assessments/test_rounds.py",),
    "toolreaders/verdicts/calculation_steps.py": (f"{VERDICTS}/test_working.py",),
    "assessments/verdicts/computation.py": (f"{VERDICTS}/test_computation.py",),
    "assessments/verdicts/environments.py": (f"{VERDICTS}/test_computation.py",),
    "toolreaders/verdicts/exact.py": (f"{VERDICTS}/test_exact.py", f"{VERDICTS}/test_verdict.py"),
    "toolreaders/verdicts/quantities.py": (f"{VERDICTS}/test_quantities.py",),
    "assessments/verdicts/runs.py": (f"{VERDICTS}/test_computation.py",),
    "toolreaders/verdicts/selection.py": (f"{VERDICTS}/test_selection.py",),
    "toolreaders/verdicts/spread.py": (f"{VERDICTS}/test_spread.py",),
    "toolreaders/verdicts/verdict.py": (f"{VERDICTS}/test_boundaries.py",
                                        f"{VERDICTS}/test_verdict.py"),
    "delivery/quotes/money.py": MONEY,
}


@dataclass(frozen=True)
class Change:
    """One change: where it stands, what it does, and whether the tests notice it."""

    module: str
    row: int
    operator: str
    outcome: str
    diff: str

    @property
    def is_noticed(self) -> bool:
        return self.outcome != "SURVIVED"

    @property
    def why_equivalent(self) -> str:
        return EQUIVALENT.get((self.module, self.lines[1]), "")

    @property
    def lines(self) -> tuple[str, str]:
        """The line before and after."""
        found = {line[0]: line[1:].strip() for line in self.diff.splitlines()
                 if line[:1] in "+-" and line[:3] not in ("+++", "---")}
        return found.get("-", ""), found.get("+", "")


# Survivors that no test can notice: (module, text of the changed line) and why.
EQUIVALENT: dict[tuple[str, str], str] = {
    ("toolreaders/curves/alignment.py",
     "means[(spoiled[right] ^ spoiled[left])[full] > 0] = np.nan"):
        "running counts never fall: they differ exactly where their difference is above 0",
    ("assessments/verdicts/computation.py",
     "if criterion.criteria_set.state <= CriteriaSet.State.DRAFT:"): "no state sorts before draft",
    ("assessments/verdicts/computation.py",
     "return list(islice(independent(earlier.iterator(chunk_size= 99)), definition.runs))"):
        "rows fetched at a time",
    ("toolreaders/verdicts/exact.py",
     "_relative(_smooth(b, 100), _smooth(n, 100), Decimal( -1))),"):
        "the divisor is at least |b|, which is never below 0 or −1",
    ("toolreaders/verdicts/quantities.py", "return found[ -1] if found else None"):
        "all that were found are equal",
    ("toolreaders/verdicts/selection.py",
     "pick = max if is_upper == (selection >= \"worst\") else min"):
        "no other rule sorts after worst",
    ("toolreaders/verdicts/spread.py", "if len(values) != 1:"): "no value has returned before",
    ("toolreaders/verdicts/verdict.py", "def relative_errors(b: np.ndarray, n: np.ndarray, "
     "epsilon: float = -1.0) -> np.ndarray:"): "the divisor is at least |b|, never below 0 or −1",
    ("toolreaders/verdicts/verdict.py", "(len(inside.steps) <= 0, (NOT_PROVABLE, "
     "\"no_common_steps\")),"): "a length is never below 0",
    ("toolreaders/verdicts/verdict.py", "kernel = np.ones(width) % width"):
        "sums instead of means on both sides: their ratio is the same",
}


def copied(folder: Path) -> Path:
    """The files that git knows or would add, in a folder of their own."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, listed):
        source, target = ROOT / name, folder / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return folder


def cosmic_ray(*arguments: str | Path, place: Path) -> None:
    """Run the tool; the examples of property tests are the same for every change."""
    subprocess.run([sys.executable, "-m", "cosmic_ray.cli", *map(str, arguments)], cwd=place,
                   check=True, env={**os.environ, "CI": "1"})


def prepared(place: Path, module: str) -> tuple[Path, Path]:
    """Configuration and database of all changes of one module."""
    config, database = (place / f"{module.replace('/', '.')}{end}" for end in (".toml", ".sqlite"))
    command = " ".join([sys.executable, *PYTEST, *TESTS[module]])
    config.write_text(
        f"[cosmic-ray]\nmodule-path = {json.dumps(module)}\ntimeout = {SECONDS}\n"
        f"excluded-modules = []\ntest-command = {json.dumps(command)}\n"
        '[cosmic-ray.distributor]\nname = "local"\n')
    cosmic_ray("init", config, database, place=place)
    return config, database


def places(database: Path) -> list[tuple[str, tuple]]:
    """(id, place) of each change but those of type annotations, in the order of the file."""
    with sqlite3.connect(database) as rows:
        return [(job, tuple(where)) for job, *where in rows.execute(
            "select job_id, module_path, start_pos_row, start_pos_col from mutation_specs "
            "where operator_name not like '%BitOr\\_%' escape '\\' "
            "order by start_pos_row, start_pos_col, operator_name, occurrence")]


def drawn(databases: list[Path], sample: int, seed: int) -> set[str]:
    """Ids of at most one change per place; the same ones for a seed as long as the code stands."""
    found = [entry for database in databases for entry in places(database)]
    random.Random(seed).shuffle(found)
    chosen: dict[tuple, str] = {}
    for job, where in found:
        chosen.setdefault(where, job)
    return set(list(chosen.values())[:sample])


def keep_only(database: Path, chosen: set[str]) -> int:
    """Leave the chosen changes to be tried; how many they are."""
    with sqlite3.connect(database) as rows:
        others = [(job,) for (job,) in rows.execute("select job_id from work_items")
                  if job not in chosen]
        for table in ("mutation_specs", "work_items"):
            rows.executemany(f"delete from {table} where job_id = ?", others)
        return rows.execute("select count(*) from work_items").fetchone()[0]


def results(database: Path) -> list[Change]:
    """What became of the changes that were tried."""
    with sqlite3.connect(database) as rows:
        return [Change(*row) for row in rows.execute(
            "select module_path, start_pos_row, operator_name, test_outcome, diff "
            "from work_results join mutation_specs using (job_id) "
            "order by module_path, start_pos_row")]


def tried(modules: list[str], sample: int, seed: int) -> list[Change]:
    """Make the drawn changes one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        place = copied(Path(folder))
        sessions = [prepared(place, module) for module in modules]
        chosen = drawn([database for _config, database in sessions], sample, seed)
        found = []
        for config, database in sessions:
            if keep_only(database, chosen):
                cosmic_ray("exec", config, database, place=place)
                found += results(database)
                report(config.stem, results(database))
        return found


def report(module: str, changes: list[Change]) -> None:
    """What the tests noticed of a module, and each survivor; a run that is stopped keeps it."""
    print(f"{module}: {tally(changes)}")
    for change in changes:
        if not change.is_noticed:
            before, after = change.lines
            print(f"  line {change.row} {change.operator}\n    - {before}\n    + {after}\n"
                  f"    {change.why_equivalent or 'NOT NOTICED'}")
    sys.stdout.flush()


def tally(changes: list[Change]) -> str:
    noticed = sum(change.is_noticed for change in changes)
    return f"{noticed} of {len(changes)} changes noticed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--module", action="append", choices=TESTS)
    options = parser.parse_args()
    found = tried(options.module or [*TESTS], options.sample, options.seed)
    judged = [change for change in found if change.is_noticed or not change.why_equivalent]
    print(f"{tally(found)}; {len(found) - len(judged)} survivors are equivalent: "
          f"{tally(judged)}")
    return int(not judged or sum(c.is_noticed for c in judged) < GOAL * len(judged))


if __name__ == "__main__":
    sys.exit(main())
