"""What the component gallery shows: examples, never data of an engagement."""

from django import forms

from engagements.stages import Stage, StageState

_STATES = [StageState.PASSED, StageState.PASSED, StageState.IN_PROGRESS, StageState.SENT_BACK,
           StageState.SKIPPED]

GALLERY_STEPS = [
    {"label": stage.label, "number": number, "url": "", "state": state,
     "state_label": state.label}
    for number, (stage, state) in enumerate(
        zip(Stage, _STATES + [StageState.NOT_STARTED] * len(Stage), strict=False), 1)
]


class GalleryForm(forms.Form):
    """One field of each kind."""

    text = forms.CharField(help_text="One line of help.")
    number = forms.DecimalField(label="Number (GB)")
    choice = forms.ChoiceField(choices=[("a", "First"), ("b", "Second")])
    words = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False)
    file = forms.FileField(required=False)
    agreed = forms.BooleanField(required=False)
