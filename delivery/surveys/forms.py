from django import forms
from django.utils.translation import gettext_lazy as _

from delivery.surveys.answer_sheet import Cell
from delivery.surveys.answer_values import choices_of
from delivery.surveys.models import Decision, Question
from delivery.surveys.serializers import SurveyDecisionSerializer
from delivery.surveys.services import Change
from engagements.text.language_detection import other_language
from engagements.web.row_form import RowForm
from toolreaders.number_parsing import whole_number


class CellsForm:
    """The inputs of one section, each with the revision it was read at.

    Not a Django form: validity is decided input by input in the service, so that one wrong
    entry does not hold up the others.
    """

    def __init__(self, cells: list[Cell], saved=None, sent=None, comments=(), known=None):
        errors = saved.errors if saved else {}
        conflicts = {c.cell.name: c for c in saved.conflicts} if saved else {}
        self.fields = [
            Field(cell, errors.get(cell.name, ""), conflicts.get(cell.name), sent,
                  [c for c in comments if (c.question_id, c.model_id) == (
                      cell.question.pk, cell.model and cell.model.pk)],
                  (known or {}).get(cell.name, ""))
            for cell in cells]

    def groups(self) -> list[dict]:
        """The inputs by section and model, in the order of the questionnaire."""
        keyed = {}
        for field in self.fields:
            cell = field.cell
            keyed.setdefault((cell.question.section, cell.model), []).append(field)
        return [{"section": fields[0].cell.question.localized_section, "model": model,
                 "fields": fields} for (_section, model), fields in keyed.items()]


class Field:
    """One input for the template: its widget, error, conflict and comments."""

    def __init__(self, cell: Cell, error: str, conflict, sent, comments, known="") -> None:
        self.cell, self.error, self.conflict, self.comments = cell, error, conflict, comments
        self.known = known if cell.answer is None and sent is None else ""
        self.sent = sent if error or conflict else None

    @property
    def value(self):
        return shown_value(self.cell, self.sent) or self.known

    @property
    def revision(self) -> int:
        """What the person has seen: after a refused entry still the revision it came with."""
        sent = self.sent.get(f"r:{self.cell.name}", "") if self.error and self.sent else None
        return self.cell.revision if sent is None else seen_revision(sent)

    def widget(self) -> str:
        """The input as HTML."""
        question, name = self.cell.question, f"a:{self.cell.name}"
        attrs = {"id": f"id-{self.cell.name}", "class": "form-control"}
        if self.error or self.conflict:
            attrs |= {"aria-invalid": "true", "class": "form-control is-invalid"}
        if question.help or question.help_en:
            attrs["aria-describedby"] = f"help-{self.cell.name}"
        if language := other_language(self.cell.text):
            attrs["lang"] = language
        return _widget(question, attrs).render(name, self.value)


def _widget(question: Question, attrs: dict) -> forms.Widget:
    if question.type == Question.Type.MULTI:
        return forms.CheckboxSelectMultiple({"id": attrs["id"], "class": "desk-options"},
                                            choices_of(question))
    if question.type in (Question.Type.CHOICE, Question.Type.BOOL):
        css = attrs["class"].replace("form-control", "form-select")
        return forms.Select({**attrs, "class": css}, [("", "--"), *choices_of(question)])
    if question.type == Question.Type.NUMBER:
        return forms.TextInput({**attrs, "inputmode": "decimal"})
    if question.type == Question.Type.DATE:
        return forms.DateInput({**attrs, "type": "date"})
    if question.type == Question.Type.FILE:
        return forms.TextInput({**attrs, "list": "survey-files"})
    return forms.Textarea({**attrs, "rows": 2})


def shown_value(cell: Cell, sent):
    """What was sent where it was refused, else what is stored."""
    if sent is None:
        return cell.value
    is_multi = cell.question.type == Question.Type.MULTI
    return sent.getlist(f"a:{cell.name}") if is_multi else sent.get(f"a:{cell.name}", "")


def changes_of(post, cells: list[Cell]) -> list[Change]:
    """The inputs that the form sent: those whose revision came with it."""
    return [Change(cell.name, shown_value(cell, post), seen_revision(post.get(f"r:{cell.name}")))
            for cell in cells if f"r:{cell.name}" in post]


def seen_revision(text: str) -> int:
    """The revision of an answer that the person has seen; 0 before the first."""
    return whole_number(text) or 0


class UploadForm(forms.Form):
    file = forms.FileField(label=_("Filled-in workbook (.xlsx)"))


class VersionForm(forms.Form):
    file = forms.FileField(label=_("Questions (.json)"), help_text=_(
        "Download the current version, change it, and upload it here."))
    note = forms.CharField(label=_("What is new"), max_length=240)


class DecisionForm(RowForm):
    """Go or no-go."""

    serializer_class = SurveyDecisionSerializer
    labels = {"reason": _("Reason, and conditions if there are any")}
    widgets = {"reason": forms.Textarea(attrs={"rows": 2})}

    verdict = forms.ChoiceField(label=_("Decision"), choices=Decision.Verdict)
