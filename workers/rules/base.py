"""The rule registry and the engine: facts in, hits out (DOMAIN 5). Pure, no database.

A rule that lacks a fact it needs is *not checked*, with the reason; it is never taken as passed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _

from engagements.text.text_joining import listed
from workers.rules.fact_labels import fact_words, place_text, value_text
from workers.rules.strategy import Strategy

RULES_VERSION = "2026.2"
BLOCK, WARN, INFO = "block", "warn", "info"
SEVERITIES = (BLOCK, WARN, INFO)
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
MAX_VALUE_CHARACTERS = 300


@dataclass(frozen=True)
class Spot:
    """One offending value and where it stands: parameter, variable, file:line or cell.

    `fact` and `line` name the fact it comes from, and the line of that fact's file;
    `severity` differs from the rule's where the spot proves less than the rule says.
    """

    value: Any
    place: str
    fact: str = ""
    line: int | None = None
    severity: str = ""


@dataclass(frozen=True)
class Origin:
    """Where a fact was read: a stored file (or a word such as “node”) and a line of it."""

    name: str
    line: int | None = None
    artifact: int | None = None

    def __str__(self) -> str:
        return f"{self.name}:{self.line}" if self.line else self.name


class Facts(dict[str, Any]):
    """Facts by name; `origins` says where those that were read stand."""

    def __init__(self, *args, origins: Mapping[str, Origin] | None = None, **more) -> None:
        super().__init__(*args, **more)
        self.origins: dict[str, Origin] = dict(origins or {})

    def over(self, below: Mapping[str, Any]) -> "Facts":
        """These facts, and of `below` those that are not known here."""
        known = {name: value for name, value in self.items() if value is not None}
        origins = {name: origin for name, origin in getattr(below, "origins", {}).items()
                   if name not in known}
        return Facts({**below, **known}, origins={**origins, **self.origins})


@dataclass(frozen=True)
class Rule:
    """One declaration.

    Args:
        needs: names of facts without which nothing can be said.
        test: facts → True, False or the offending spots.
        scope: releases or situations for which the rule holds; empty for all.
        source: mark of the source as in DOMAIN 14.
    """

    code: str
    severity: str
    source: str
    needs: tuple[str, ...]
    text: Any
    action: Any
    test: Callable[[Mapping[str, Any]], bool | Iterable[Spot]]
    scope: Any = ""
    version: str = "1"

    @property
    def family(self) -> str:
        return self.code.rsplit("-", 1)[0]


@dataclass(frozen=True)
class Hit:
    rule: str
    severity: str
    value: str
    place: str
    version: str = "1"
    source: str = ""  # file and line the value was read from
    artifact: int | None = None  # id of that file

    @property
    def text(self) -> str:
        return str(RULES[self.rule].text) if self.rule in RULES else self.rule

    @property
    def action(self) -> str:
        return str(RULES[self.rule].action) if self.rule in RULES else ""

    @property
    def where(self) -> str:
        """The place, in the reader's language."""
        return place_text(self.place)

    @property
    def shown(self) -> str:
        """The value, in the reader's language."""
        return value_text(self.value)

    @property
    def sentence(self) -> str:
        """Place, value, what the rule says, what to do; in the reader's language."""
        place = f"{self.where} ({self.source})" if self.source else self.where
        return _("%(place)s = %(value)s: %(text)s %(action)s (%(rule)s)") % {
            "place": place, "value": self.shown, "text": self.text, "action": self.action,
            "rule": self.rule}


@dataclass(frozen=True)
class NotChecked:
    rule: str
    missing: tuple[str, ...]
    unreadable: str = ""

    @property
    def text(self) -> str:
        return str(RULES[self.rule].text)

    @property
    def reason(self) -> str:
        if self.unreadable:
            return _("A value cannot be read: %(why)s.") % {"why": self.unreadable}
        names = listed(map(fact_words, self.missing))
        return _("Not known: %(names)s.") % {"names": names}


@dataclass
class Outcome:
    """What came of a set of rules over one set of facts."""

    hits: list[Hit] = field(default_factory=list)
    clear: list[str] = field(default_factory=list)
    not_checked: list[NotChecked] = field(default_factory=list)

    def of(self, severity: str) -> list[Hit]:
        return [hit for hit in self.hits if hit.severity == severity]


RULES: dict[str, Rule] = {}


def rule(code: str, severity: str, source: str, needs: str, text, action, test, scope="") -> None:
    """Add one declaration; a code is given once. `needs`: names of facts between blanks."""
    if code in RULES or severity not in SEVERITIES:
        raise ValueError(f"Rule {code!r} is declared twice or has no known severity.")
    RULES[code] = Rule(code, severity, source, tuple(needs.split()), text, action, test, scope)


def check(facts: Mapping[str, Any], codes: Iterable[str] | None = None) -> Outcome:
    """Run rules over facts.

    Args:
        facts: name → value as in `workers.rules.facts.of_job`; a fact that is None is not known.
        codes: only these rules; all by default. Unknown codes raise KeyError.
    """
    outcome = Outcome()
    for code in sorted(RULES) if codes is None else codes:
        _check_one(RULES[code], facts, outcome)
    return outcome


def _check_one(rule: Rule, facts: Mapping[str, Any], outcome: Outcome) -> None:
    missing = tuple(name for name in rule.needs if facts.get(name) is None)
    if missing:
        outcome.not_checked.append(NotChecked(rule.code, missing))
        return
    try:
        found = rule.test(facts)
        spots = _spots(rule, facts, found)
    except UNREADABLE as error:
        outcome.not_checked.append(NotChecked(rule.code, rule.needs, f"{error}"[:200]))
        return
    outcome.hits += [_hit(rule, spot, getattr(facts, "origins", {})) for spot in spots]
    if not spots:
        outcome.clear.append(rule.code)


def _hit(rule: Rule, spot: Spot, origins: Mapping[str, Origin]) -> Hit:
    names = [spot.fact] if spot.fact else rule.needs
    read = [origins[name] for name in names if name in origins]
    if spot.fact and spot.line and read:
        read = [replace(read[0], line=spot.line)]
    source = "; ".join(dict.fromkeys(map(str, read)))
    artifact = next((origin.artifact for origin in read if origin.artifact), None)
    return Hit(rule.code, spot.severity or rule.severity, _short(spot.value), spot.place,
               rule.version, source, artifact)


def _spots(rule: Rule, facts, found) -> list[Spot]:
    if isinstance(found, bool):
        if not found:
            return []
        value = ", ".join(_short(facts[name]) for name in rule.needs)
        return [Spot(value, ", ".join(rule.needs))]
    return list(found)


def _short(value: Any) -> str:
    return str(value)[:MAX_VALUE_CHARACTERS]


def with_derived(facts: Facts) -> Facts:
    """The facts, and below them what follows from them; a stated fact is never replaced."""
    found: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for name, (needs, formula) in _FORMULAS.items():
        if facts.get(name) is None and all(facts.get(need) is not None for need in needs):
            found[name] = _value(formula, facts)
            read = [facts.origins[need] for need in needs if need in facts.origins]
            origins |= {name: read[0]} if read else {}
    return facts.over(Facts(found, origins=origins))


def _value(formula, facts: Mapping[str, Any]) -> Any:
    try:
        return formula(facts)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None


def _storage(f) -> str | None:
    """nvme, or the device on which the data lies; None behind a volume manager or for “~”."""
    path = str(f["data_path"])
    mounts = [disk for disk in f["disks"] if _is_below(path, str(disk["mount"]))]
    if not path.startswith("/") or not mounts:
        return None
    device = str(max(mounts, key=lambda disk: len(disk["mount"]))["device"])
    if device.startswith(("/dev/mapper/", "/dev/dm-", "overlay")):
        return None
    return "nvme" if device.startswith("/dev/nvme") else device


def _is_below(path: str, mount: str) -> bool:
    return mount in ("/", path) or path.startswith(f"{mount}/")


def _batches(f) -> int:
    return Strategy(cards=int(f["world_size"]), tensor=int(f["tp"]), pipeline=int(f["pp"]),
                    context=int(f.get("cp") or 1), micro_batch=int(f["mbs"]),
                    global_batch=int(f["gbs"])).micro_batches


def _billions(f) -> float:
    """12 · layers · hidden²: weights of the blocks of a transformer, without embeddings."""
    return 12 * int(f["num_layers"]) * int(f["hidden_size"]) ** 2 / 1e9


_FORMULAS = {
    "warmup_steps": (("warmup_fraction", "train_iters"),
                     lambda f: f["warmup_fraction"] * f["train_iters"]),
    "data_storage": (("data_path", "disks"), _storage),
    "micro_batches": (("gbs", "mbs", "world_size", "tp", "pp"), _batches),
    "parameters_billion": (("num_layers", "hidden_size"), _billions),
}
