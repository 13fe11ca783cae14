"""The annex file of a document on verdicts: every run, every raw file, every stage.

In print these lists take more pages than all the rest and nobody reads them there; the document
prints their totals and names this file. Facts are those of the snapshot, so that one hash stands
for all of it.
"""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from delivery.documents.templatetags.document_tags import bundle_name, spans
from delivery.reports.command_words import digest_of, is_script, line_count, shown_command
from delivery.reports.office.plain_tables import definitions, plain_table

USES = {"baseline": lambda: _("baseline"), "measured": lambda: _("judged"),
        "third_party": lambda: _("third party"), "": lambda: "–"}


def annex(facts: dict) -> Iterable[dict]:
    """The tables of the annex, from facts in the active language."""
    yield _runs(facts["runs"])
    if "criterion_runs" in facts:
        yield _criterion_runs(facts["criterion_runs"])
    yield from _scripts(facts["runs"])
    yield _files(facts["evidence"])
    yield from (facts["tables"][key] for key in ("passage", "assets", "deliverables")
                if key in facts["tables"])
    if "definitions" in facts:
        yield definitions(facts)


def _runs(runs: list[dict]) -> dict:
    """Every run, with its command as it was given to the tool."""
    return plain_table(_("All runs"), [
        ("#", "number"), (_("Model"), "code"), (_("Kind of run"), "text"), (_("Stage"), "text"),
        (_("Node"), "code"), (_("Cards"), "code"), (_("State"), "text"),
        (_("Exit status"), "number"), (_("Judged"), "text"), (_("Started"), "text"),
        (_("Finished"), "text"), (_("By"), "text"), (_("Result"), "text"), (_("Command"), "text"),
        (_("Practice data"), "text")],
        [(run["id"], run["model"], run["title"], run["stage"], run["node"], spans(run["cards"]),
          run["state_label"], _shown(run["exit_status"]), _yes(run["is_judged"]), run["started"],
          run["finished"], run["who"], run["sentence"], shown_command(run["command"]),
          _yes(run["is_practice"])) for run in runs], _("No run was made."))


def _criterion_runs(found: list[dict]) -> dict:
    """Per criterion every run that could measure it."""
    return plain_table(_("Runs by criterion"), [
        (_("Case"), "code"), (_("Model"), "code"), (_("Metric"), "text"),
        (_("Threshold"), "text"), (_("Rule"), "text"), (_("Run"), "code"), (_("File"), "code"),
        (_("Kind of run"), "text"), (_("State"), "text"), (_("Began"), "text"),
        (_("Figure"), "text"), (_("Settings that differ"), "text"),
        (_("What became of it"), "text"), (_("Earlier verdicts"), "text"),
        (_("Practice data"), "text")],
        [(entry["number"], entry["model"], entry["name"], entry["threshold"], entry["rule"],
          f"#{run['job']}" if run["job"] else "", f"E{run['artifact']}" if run["artifact"] else "",
          run["title"], run["state"], run["began"], run["text"],
          "\n".join(f"{name}: {there or '–'} → {here or '–'}"
                    for name, there, here in run["differences"]),
          run["label"], "\n".join(f"{earlier['at']} V{earlier['version']}: {earlier['label']}"
                                  for earlier in run["earlier"]), _yes(run["is_practice"]))
         for entry in found for run in entry["runs"]], _("There is no criterion."))


def _scripts(runs: list[dict]) -> Iterable[dict]:
    """The scripts that stand in commands, each once; nothing where no command holds one."""
    using: dict[str, list[str]] = {}
    for run in runs:
        for word in filter(is_script, run["command"]):
            using.setdefault(word, []).append(f"#{run['id']}")
    if using:
        yield plain_table(_("Scripts in the commands"), [
            ("SHA-256", "hash"), (_("Number of lines"), "number"), (_("Run"), "text"),
            (_("Text of the script"), "text")],
            [(digest_of(text), line_count(text), ", ".join(found), text)
             for text, found in using.items()])


def _files(evidence: list[dict]) -> dict:
    """Every raw file with its checksum; in the bundle it stands under raw/."""
    return plain_table(_("All raw files"), [
        (_("No."), "code"), (_("File"), "text"), (_("Size (bytes)"), "number"),
        ("SHA-256", "hash"), (_("Name in the bundle"), "text"), (_("Use"), "text"),
        (_("Run"), "code"), (_("Model"), "code"), (_("Node"), "code"),
        (_("By"), "text"), (_("Time"), "text"), (_("Practice data"), "text")],
        [(f"E{row['id']}", row["name"], row["size"], row["sha256"],
          bundle_name(row), USES[row["role"]](),
          f"#{row['job']}" if row["job"] else "", row["model"], row["node"], row["who"],
          row["when"], _yes(row["is_practice"])) for row in evidence], _("No file is stored."))


def _yes(value: bool) -> str:
    return _("yes") if value else "–"


def _shown(value: int | None) -> str:
    return "" if value is None else str(value)
