"""The form of one question of a draft: lists are typed line by line."""

from django import forms
from django.utils.translation import gettext_lazy as _

from delivery.surveys.draft_differences import condition_lines, option_lines
from delivery.surveys.models import Question
from delivery.surveys.serializers import QuestionSerializer
from engagements.web.row_form import RowForm


class QuestionForm(RowForm):
    serializer_class = QuestionSerializer
    labels = {"section": _("Section: key"), "section_label": _("Section: name"),
              "section_label_en": _("Section: English name"), "help": _("Hint"),
              "help_en": _("Hint (English)")}
    help_texts = {"key": _(
        "Workbooks, the API and survey conclusions identify the question by it.")}
    field_order = ("key", "number", "section", "section_label", "section_label_en", "label",
                   "label_en", "type", "unit", "options", "is_required", "is_per_model")

    options = forms.CharField(label=_("Options"), required=False, widget=forms.Textarea(
        attrs={"rows": 4}), help_text=_("One per line: code = Chinese | English"))
    condition = forms.CharField(label=_("Asked only if"), required=False, widget=forms.Textarea(
        attrs={"rows": 2}), help_text=_("One question per line: key = code, code"))
    after = forms.ChoiceField(label=_("Position after"), required=False)

    def __init__(self, *args, questions: list[dict], question: dict | None = None, **kwargs):
        super().__init__(*args, initial=_initial(question), **kwargs)
        self.fields["type"].choices = Question.Type.choices
        if question:
            del self.fields["after"]
            self.fields["key"].disabled = True
        else:
            self.fields["after"].choices = [("", _("at the end"))] + [
                (q["key"], f"{q['number']} · {q['key']}") for q in questions]

    @classmethod
    def names(cls) -> dict[str, str]:
        """What the form calls each of its fields."""
        return {name: field.label for name, field in {
            **cls.derived_fields(), **cls.base_fields}.items()}

    def clean_options(self) -> list[dict]:
        """Lines as options; a line without names uses the code as its name."""
        found = []
        for line in _lines(self.cleaned_data["options"]):
            code, _sign, names = line.partition("=")
            label, _bar, english = names.partition("|")
            label = label.strip() or code.strip()
            found.append({"code": code.strip(), "label": label,
                          "label_en": english.strip() or label})
        if len({option["code"] for option in found}) < len(found):
            raise forms.ValidationError(_("A code is used twice."))
        return found

    def clean_condition(self) -> dict[str, list[str]]:
        pairs = [line.partition("=") for line in _lines(self.cleaned_data["condition"])]
        return {key.strip(): [code.strip() for code in codes.replace("，", ",").split(",")
                              if code.strip()] for key, _sign, codes in pairs}

    def question(self) -> dict:
        """The question as `publishing` takes it."""
        return {name: value for name, value in self.cleaned_data.items() if name != "after"}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _initial(question: dict | None) -> dict:
    if question is None:
        return {}
    return {**question, "options": option_lines(question["options"]),
            "condition": condition_lines(question["condition"])}
