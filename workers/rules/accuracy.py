"""R-ACC: the order of work on accuracy (DOMAIN 5.3)."""

from django.utils.translation import gettext_lazy as _

from toolreaders.verdicts.spread import FEWEST_RUNS
from workers.rules.base import BLOCK, WARN, Spot, rule

BY_NATURE = ("pip", "env")  # they differ between GPU and NPU: to be reviewed, not wrong
SEEDS = ("torch", "numpy", "random", "loader")


def _differing(f):
    allowed = {item.lower() for item in f.get("reviewed_differences") or ()}
    return [Spot("FALSE", f"summary: {name}", "config_check", sheet["line"],
                 WARN if name in BY_NATURE else "")
            for name, sheet in f["config_check"].items()
            if not sheet["passed"] and not _is_reviewed(name, sheet, allowed)]


def _is_reviewed(name: str, sheet: dict, allowed: set[str]) -> bool:
    """The sheet is on the list as a whole, or every single difference of it is."""
    items = {item.lower() for item in sheet.get("items") or ()}
    return name in allowed or (bool(items) and items <= allowed)


def _unequal(f):
    """What both sides know and do not agree on: step, data type."""
    ours, theirs = f["dump_candidate"], f["dump_baseline"]
    return [Spot(f"{theirs[name]} / {ours[name]}", name, "dump_candidate")
            for name in ours if name in theirs and ours[name] != theirs[name]]


def _count(steps) -> int:
    """Steps of a list whose entries are numbers or ranges such as "0-9"."""
    ranges = (str(step).partition("-") for step in steps)
    return sum(int(last) - int(first) + 1 if last else 1 for first, _dash, last in ranges)


rule("R-ACC-01", WARN, "S1", "is_dump is_config_check_passed",
     _("Dumping before the configuration check has passed wastes effort."),
     _("Compare the configurations first."),
     lambda f: bool(f["is_dump"]) and not f["is_config_check_passed"])
rule("R-ACC-02", BLOCK, "S1, D", "config_check",
     _("The configurations differ outside the reviewed list; only pip and env differ by nature."),
     _("Review each difference, or make both sides equal."), _differing)
rule("R-ACC-03", BLOCK, "S1", "seeds",
     _("Seeds of torch, numpy, random and the loader workers must be fixed."),
     _("Set all four seeds at the start."),
     lambda f: [Spot("missing", name) for name in SEEDS if name not in f["seeds"]])
rule("R-ACC-04", BLOCK, "S1", "input_differences",
     _("Data set and first weights must be the same on both sides."),
     _("Copy the files and compare their SHA-256."),
     lambda f: [Spot(item, "dataset, weights", "input_differences")
                for item in f["input_differences"][:20]])
rule("R-ACC-05", BLOCK, "S1", "dump_steps dump_ranks",
     _("Only chosen steps and ranks may be dumped; a whole run fills terabytes."),
     _("Name a few steps around the deviation and one rank."),
     lambda f: not f["dump_steps"]
     or _count(f["dump_steps"]) * max(1, _count(f["dump_ranks"])) > 64)
rule("R-ACC-06", BLOCK, "S1", "dump_baseline dump_candidate",
     _("Both sides must be dumped at the same step and in the same dtype."),
     _("Dump again with the same settings."),
     _unequal)
rule("R-ACC-07", BLOCK, "X3", "cards config_ranks",
     _("For one card the list of ranks must be empty."), _('Write "rank": [].'),
     lambda f: f["cards"] == 1 and bool(f["config_ranks"]))
rule("R-ACC-08", BLOCK, "X16", "baseline_runs compares_with_baseline",
     _("A baseline needs three or more runs that agree."), _("Repeat the reference run."),
     lambda f: [Spot(f["baseline_runs"], "baseline_runs", "baseline_runs", severity=WARN)]
     if f["compares_with_baseline"] and f["baseline_runs"] < FEWEST_RUNS else [],
     _("blocks the signing of a baseline; a comparison is only warned of"))
rule("R-ACC-09", BLOCK, "S0, X21", "nonfinite_losses",
     _("The loss holds infinities or NaN."),
     _("Find the first step and look for overflow there."),
     lambda f: f["nonfinite_losses"] > 0)
