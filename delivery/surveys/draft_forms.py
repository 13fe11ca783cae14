"""The form of one question of a draft: lists are typed line by line."""

from django import forms
from django.utils.translation import gettext_lazy as _

from delivery.surveys.draft_differences import condition_lines, option_lines
from delivery.surveys.models import Question


class QuestionForm(forms.Form):
    key = forms.SlugField(label=_("key"), max_length=40, help_text=_(
        "Workbooks, the API and survey conclusions identify the question by it."))
    number = forms.IntegerField(label=_("number"), min_value=1, max_value=999)
    section = forms.SlugField(label=_("Section: key"), max_length=40)
    section_label = forms.CharField(label=_("Section: name"), max_length=80)
    section_label_en = forms.CharField(label=_("Section: English name"), max_length=80)
    label = forms.CharField(label=_("question"), max_length=160)
    label_en = forms.CharField(label=_("question (English)"), max_length=160)
    type = forms.ChoiceField(label=_("type"), choices=Question.Type)
    unit = forms.CharField(label=_("unit"), max_length=24, required=False)
    options = forms.CharField(label=_("Options"), required=False, widget=forms.Textarea(
        attrs={"rows": 4}), help_text=_("One per line: code = Chinese | English"))
    is_required = forms.BooleanField(label=_("required"), required=False)
    is_per_model = forms.BooleanField(label=_("per model"), required=False)
    help = forms.CharField(label=_("Hint"), max_length=240, required=False)
    help_en = forms.CharField(label=_("Hint (English)"), max_length=240, required=False)
    condition = forms.CharField(label=_("Asked only if"), required=False, widget=forms.Textarea(
        attrs={"rows": 2}), help_text=_("One question per line: key = code, code"))
    after = forms.ChoiceField(label=_("Position after"), required=False)

    def __init__(self, *args, questions: list[dict], question: dict | None = None, **kwargs):
        super().__init__(*args, initial=_initial(question), **kwargs)
        if question:
            del self.fields["after"]
            self.fields["key"].disabled = True
        else:
            self.fields["after"].choices = [("", _("at the end"))] + [
                (q["key"], f"{q['number']} · {q['key']}") for q in questions]

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
