"""What the pages of the catalogue show of a kind; all of it comes from the declaration."""

import shlex

from django.http import Http404
from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.text_joining import listed
from workers import kinds
from workers.kinds import JobKind, Parameter

LONGEST_WORD = 400


def known_kind(code: str) -> JobKind:
    """The kind of that code. Raises Http404 for an unknown one."""
    try:
        return kinds.get(code)
    except InvalidInput as error:
        raise Http404(error.message) from error


def families() -> list[tuple[str, list[JobKind]]]:
    """The kinds by the family their code begins with, in the order of the work."""
    titles = {"env": _("Environment"), "survey": _("Survey"), "adapt": _("Adaptation"),
              "acc": _("Accuracy"), "perf": _("Performance"), "inf": _("Inference"),
              "evi": _("Evidence"), "run": _("Free commands")}
    found = {code: [] for code in titles}
    for kind in kinds.all_kinds():
        found.setdefault(kind.code.split(".")[0], []).append(kind)
    return [(titles.get(code, code), members) for code, members in found.items() if members]


def stages(kind: JobKind) -> list[str]:
    return [str(Stage(stage).label) for stage in kind.stages]


def type_name(parameter: Parameter) -> str:
    """What a value of the parameter is, in a word."""
    names = {"text": _("text"), "name": _("name without blanks"), "path": _("path on the node"),
                "integer": _("whole number"), "number": _("decimal number"), "choice": _("choice"),
                "flag": _("yes or no"), "artifact": _("stored file"),
                "words": _("command-line arguments"), "script": _("text of a script")}
    return str(names[parameter.type])


def bounds(parameter: Parameter) -> str:
    """What is allowed, in one phrase; empty where only the type limits it."""
    if parameter.choices:
        return listed(map(parameter.shown, parameter.choices))
    low, high = parameter.minimum, parameter.maximum
    if low is None and high is None:
        return ""
    return f"{'−∞' if low is None else low} … {'∞' if high is None else high}"


def default(parameter: Parameter) -> str:
    """The default as people read it; empty where there is none."""
    return "" if parameter.default is None else parameter.shown(parameter.default)


def example_command(kind: JobKind) -> str:
    """The command line for the example parameters; scripts of ours are shortened."""
    words = [word if len(word) <= LONGEST_WORD else f"{word.strip().splitlines()[0]} …"
             for word in kind.example_command()]
    return shlex.join(words)


MARKER = "<!-- manage.py regenerate -->\n"


def as_markdown() -> str:
    """All kinds as a table by family, in the active language."""
    return MARKER + "".join(
        f"\n### {title}\n\n| Kind | What it does | Success | Runs on | Cards | Files |\n"
        f"|---|---|---|---|---|---|\n{''.join(map(_row, members))}"
        for title, members in families())


def _row(kind: JobKind) -> str:
    cards = "as asked" if any(p.name == "cards" for p in kind.parameters) else kind.cards or "–"
    cells = [f"`{kind.code}` {kind.title}", kind.description, kind.success,
             "node" if kind.runs_on_node else "server", cards,
             ", ".join(f"`{pattern}`" for pattern in kind.collect) or "–"]
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |\n"
