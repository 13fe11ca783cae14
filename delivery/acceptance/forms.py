"""Forms of the customer's review."""

from django import forms
from django.utils.translation import gettext_lazy as _

from delivery.acceptance.models import Review


class CommentForm(forms.Form):
    model = forms.ModelChoiceField(None, label=_("About"), required=False,
                                   empty_label=_("The whole document"))
    text = forms.CharField(label=_("Comment"), widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, *args, engagement, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["model"].queryset = engagement.models.all()


class DecisionForm(forms.Form):
    decision = forms.ChoiceField(label=_("Decision"), choices=Review.Decision,
                                 widget=forms.RadioSelect)
    reason = forms.CharField(label=_("Reason or remark"), required=False,
                             widget=forms.Textarea(attrs={"rows": 3}),
                             help_text=_("Needed for a rejection."))


class ConditionForm(forms.Form):
    description = forms.CharField(label=_("Outstanding issue"), max_length=400)
    owner = forms.CharField(label=_("Responsible"), max_length=80)
    due_on = forms.DateField(label=_("Due"), widget=forms.DateInput(attrs={"type": "date"}))


ConditionFormSet = forms.formset_factory(ConditionForm, extra=3, max_num=40, absolute_max=40)


class SignForm(forms.Form):
    name = forms.CharField(label=_("Your name"), max_length=80)
    capacity = forms.CharField(label=_("Capacity"), max_length=80,
                               help_text=_("For example: head of the project team, party A"))
    confirmed = forms.BooleanField(
        label=_("I have read the document and sign its content hash shown above."))
