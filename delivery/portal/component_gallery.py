"""What the component gallery shows: examples, never data of an engagement."""

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404
from django.shortcuts import render
from django.views.decorators.http import require_GET

from engagements import status
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


@require_GET
def gallery(request):
    """Every component of the design system on one page; only while developing."""
    if not settings.DEBUG:
        raise Http404
    messages.success(request, "Saved.")
    messages.error(request, "The host key is not the pinned one.")
    return render(request, "components/gallery.html", {
        "colours": {colour: status.codes_of(colour) for colour in status.COLOURS},
        "form": GalleryForm(), "steps": GALLERY_STEPS,
        "page": Paginator(range(90), 30).get_page(2)})
