"""Forms of human evaluations."""

from django import forms
from django.utils.translation import gettext_lazy as _

from engagements.models import Engagement, MigratedModel
from workers.models import Artifact


class HumanEvaluationForm(forms.Form):
    """Two files of answers to the same prompts, stored ones or uploads."""

    model = forms.ModelChoiceField(MigratedModel.objects.none(), label=_("Model"))
    name = forms.CharField(max_length=120, label=_("Name"))
    instruction = forms.CharField(
        required=False, label=_("What is judged"), widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Shown at the top of the rating sheet."))
    baseline_file = forms.ModelChoiceField(
        Artifact.objects.none(), required=False, label=_("Answers of the source platform"))
    baseline_upload = forms.FileField(required=False, label=_("or upload them"), help_text=_(
        "JSON lines, each with “prompt” and “answer”."))
    candidate_file = forms.ModelChoiceField(
        Artifact.objects.none(), required=False, label=_("Answers of the migrated model"))
    candidate_upload = forms.FileField(required=False, label=_("or upload them"))

    def __init__(self, *args, engagement: Engagement, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["model"].queryset = engagement.models.all()
        files = Artifact.objects.filter(engagement=engagement, name__iregex=r"\.jsonl?$")
        for name in ("baseline_file", "candidate_file"):
            self.fields[name].queryset = files.order_by("-pk")
            self.fields[name].label_from_instance = lambda a: (
                f"#{a.pk} {a.name} · {a.sha256[:12]}…")

    def clean(self):
        data = super().clean()
        for side in ("baseline", "candidate"):
            if bool(data.get(f"{side}_file")) == bool(data.get(f"{side}_upload")):
                self.add_error(f"{side}_file", _("Choose a stored file or upload one."))
        return data


class RatingUploadForm(forms.Form):
    """A filled-in sheet."""

    file = forms.FileField(label=_("Filled-in rating sheet (.xlsx)"))
