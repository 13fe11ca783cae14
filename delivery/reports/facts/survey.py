"""Answers of the survey as tables (DOMAIN 7)."""

from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.documents.bilingual import LANGUAGES, both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source
from delivery.surveys.answer_sheet import Cell
from delivery.surveys.topology import specification

# Sections that describe what is there today; commercial answers stay out of technical documents.
PRESENT = ("project", "application", "gpu", "libraries")
MODEL = ("model", "training", "data", "inference")
TARGET = ("target", "environment", "security")
BASELINE = ("accuracy", "performance")


def answers(source: Source, caption, sections: tuple[str, ...]) -> dict:
    """Answers for the engagement, question by question."""
    sheet = source.survey
    cells = [cell for cell in sheet.asked if cell.question.section in sections
             and cell.model is None and cell.value is not None] if sheet else []
    return {**table(caption, [
        column(lambda: _("Survey question")), column(lambda: _("Answer"))],
                    [[both(lambda c=cell: _question(c)), both(lambda c=cell: c.text)]
                     for cell in cells], empty=lambda: _("The survey has no answer to this yet.")),
        "cure": reverse("surveys:overview", args=[source.engagement.code])}


def topology_figure(source: Source) -> dict:
    """Components and calls of the application as a picture; empty where no call is answered."""
    answer = source.survey.value("topology") if source.survey else None
    spec = specification(str(answer or ""))
    return {"caption": both(lambda: _("Components and calls of the application")),
            "spec": dict.fromkeys(LANGUAGES, spec)} if spec else {}


def model_answers(source: Source, caption, sections: tuple[str, ...]) -> dict:
    """Answers per model: a row per question and answer, with the models that gave it."""
    sheet, rows = source.survey, {}
    for cell in sheet.asked if sheet else []:
        if cell.question.section in sections and cell.model and cell.value is not None:
            key = (cell.question.pk, str(cell.value))
            rows.setdefault(key, (cell, []))[1].append(cell.model.code)
    return table(caption, [
        column(lambda: _("Survey question")), column(lambda: _("Answer")),
        column(lambda: _("Models"))],
                 [[both(lambda c=cell: _question(c)), both(lambda c=cell: c.text),
                   codes_of(codes, source)] for cell, codes in rows.values()], is_grouped=True,
                 empty=lambda: _("The survey has no answer to this yet."))


def codes_of(codes: list[str], source: Source) -> dict[str, str]:
    """Codes of models; "all", or those left out where these are fewer."""
    rest = [model.code for model in source.models if model.code not in codes]
    if not rest:
        return both(lambda: _("all"))
    if len(rest) < len(codes):
        return both(lambda: _("all but %(codes)s") % {"codes": ", ".join(rest)})
    return both(lambda: ", ".join(codes))


def _question(cell: Cell) -> str:
    """The question with the unit of its answer."""
    label, unit = cell.question.localized_label, cell.question.unit
    return f"{label} ({unit})" if unit else label


def survey_state(source: Source) -> dict:
    """Version, state and progress of the survey; empty before it is started."""
    sheet = source.survey
    if sheet is None:
        return {}
    survey, progress = sheet.survey, sheet.progress()
    return {"version": f"V{survey.questionnaire.version}", "state": survey.state,
            "label": both(survey.get_state_display), "answered": progress["answered"],
            "asked": progress["asked"], "missing": progress["missing"]}
