"""Forms of solved cases."""

from django import forms
from django.utils.translation import gettext_lazy as _

from delivery.knowledge.diagnosis_labels import diagnosis_label
from delivery.knowledge.serializers import SolvedCaseSerializer
from engagements.models import User
from engagements.web.row_form import RowForm
from workers import kinds
from workers.logs.diagnosis import BY_CODE
from workers.models import Job, JobState

MOST_JOBS = 50  # offered as those that show the cure


class VersionsField(forms.CharField):
    """Versions as lines “name version”; a dict in Python."""

    widget = forms.Textarea(attrs={"rows": 4})

    def prepare_value(self, value):
        if not isinstance(value, dict):
            return value
        return "\n".join(f"{name} {version}" for name, version in sorted(value.items()))

    def clean(self, value):
        lines = [line.split(maxsplit=1) for line in super().clean(value).splitlines()
                 if line.strip()]
        for line in lines:
            if len(line) == 1:
                raise forms.ValidationError(
                    _("“%(line)s” has no version. Write name and version on a line, for example "
                      "cann 8.2.RC1."), params={"line": line[0]})
        return {name.rstrip(":="): version.strip() for name, version in lines}

    def has_changed(self, initial, data):
        return True


class CaseForm(RowForm):
    serializer_class = SolvedCaseSerializer
    left_out = ("job", "issue", "verdict", "cured_by")
    field_order = ("title", "cause", "cure", "error_code", "operator", "diagnosis", "log_pattern",
                   "tool", "versions")
    widgets = {"cause": forms.Textarea(attrs={"rows": 4}),
               "cure": forms.Textarea(attrs={"rows": 6}),
               "log_pattern": forms.Textarea(attrs={"rows": 2})}

    diagnosis = forms.ChoiceField(
        label=_("Diagnosis"), required=False,
        help_text=_("The diagnosis given for a failed job. One that many failures share also "
                    "needs an error code, an operator or a log pattern."))
    tool = forms.ChoiceField(label=_("Tool"), required=False, help_text=_(
        "Only failures of this kind of job match; leave open where any may show it."))
    versions = VersionsField(label=_("Versions"), required=False, help_text=_(
        "One per line, for example cann 8.2.RC1. They do not decide whether a case matches; the "
        "reader sees what differs."))

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["diagnosis"].choices = diagnosis_choices()
        self.fields["tool"].choices = [("", _("any")), *sorted(
            ((kind.code, kind.title) for kind in kinds.all_kinds()),
            key=lambda choice: str(choice[1]))]


class NewCaseForm(CaseForm):
    """With the job that shows the cure, where there is one to choose."""

    cured_by = forms.ModelChoiceField(None, label=_("Job that shows the solution"), required=False,
                                      help_text=_("A later success of the same engagement. "
                                                  "Without one, the case is marked as not "
                                                  "verified."))

    def __init__(self, *args, user: User, problem: Job | None, **kwargs):
        super().__init__(*args, **kwargs)
        if problem is None:
            del self.fields["cured_by"]
            return
        later = Job.objects.visible_to(user).filter(
            state=JobState.SUCCEEDED, engagement=problem.engagement, pk__gt=problem.pk, gang=None)
        keys = list(later.order_by("pk").values_list("pk", flat=True)[:MOST_JOBS])
        self.fields["cured_by"].queryset = Job.objects.filter(pk__in=keys)


class RetireForm(forms.Form):
    reason = forms.CharField(label=_("Why it no longer helps"), max_length=240)


def diagnosis_choices() -> list[tuple[str, str]]:
    """Codes of the desk's diagnoses, each once, with their sentences."""
    codes = sorted({code for code, _line in BY_CODE})
    return [("", _("any")), *((code, diagnosis_label(code)) for code in codes)]
