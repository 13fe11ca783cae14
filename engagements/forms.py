from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.forms import PasswordChangeForm
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from engagements.access import Can, allowed
from engagements.errors import InvalidInput
from engagements.models import ApiToken, Customer, Engagement, Role, User
from engagements.permissions import OUTSIDE
from engagements.queries import filtered_people, next_code
from engagements.serializers import (
    CustomerSerializer,
    MigratedModelSerializer,
    ModelFactsSerializer,
)
from engagements.services.migrated_models import require_model_code
from engagements.services.people import PERSON_FACTS
from engagements.web.offered_choices import offered
from engagements.web.row_form import RowForm
from engagements.web.suggest_field import SuggestField, SuggestInput


def people_choices(people) -> list[tuple[int, str]]:
    """The first of the people, each with the role of the account."""
    return [(person.pk, f"{person} · {person.get_role_display()}") for person in offered(people)]


class EngagementForm(forms.ModelForm):
    """An engagement; a customer is chosen or named anew, a new engagement gets its team."""

    customer = SuggestField(Customer.objects.all(), label=_("Customer"), required=False,
                            to_field_name="name")
    new_customer = forms.CharField(
        label=_("or a new customer"), max_length=160, required=False,
        help_text=_("Full registered name. Leave empty if you chose one above."))
    team = forms.ModelMultipleChoiceField(
        None, label=_("Team"), required=False, widget=forms.CheckboxSelectMultiple,
        help_text=_("You are added automatically. People can be added later."))

    class Meta:
        model = Engagement
        fields = ["code", "name", "name_en", "customer", "new_customer", "contract_number",
                  "scope", "starts_on", "ends_on", "description", "description_en"]
        widgets = {"starts_on": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
                   "ends_on": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
                   "description": forms.Textarea(attrs={"rows": 3}),
                   "description_en": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args, creator: User | None = None, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["customer"].widget.attrs["placeholder"] = _("a new customer")
        if not self.instance.pk and not Customer.objects.exists():
            self.fields["customer"].widget = forms.HiddenInput()
            self.fields["new_customer"].label = _("Customer")
            self.fields["new_customer"].required = True
            self.fields["new_customer"].help_text = _("Full registered name.")
        if self.instance.pk:
            del self.fields["new_customer"], self.fields["team"]
            self.fields["code"].disabled = True
        elif creator and not allowed(creator, Can.MANAGE):
            del self.fields["team"]
            self.fields["customer"].queryset = Customer.objects.visible_to(creator)
        if not self.instance.pk:
            self.initial.setdefault("code", next_code(
                Engagement.objects.all(), f"EP{timezone.localdate():%y}"))
        if "team" in self.fields:
            people = User.objects.filter(is_active=True, is_service=False).exclude(
                pk=creator and creator.pk)
            self.fields["team"].queryset = people
            self.fields["team"].choices = people_choices(people)

    def clean(self):
        data = super().clean()
        start, end = data.get("starts_on"), data.get("ends_on")
        if start and end and end < start:
            self.add_error("ends_on", _("The end is before the start."))
        if not data.get("customer") and not data.get("new_customer"):
            self.add_error("customer", _("Choose a customer or name a new one."))
        return data


class ModelForm(RowForm):
    """A new model of an engagement, whose scope it has at first."""

    serializer_class = MigratedModelSerializer

    def __init__(self, *args, of: Engagement, **kwargs):
        super().__init__(*args, of=of, **kwargs)
        self.initial.update(code=next_code(of.models.all(), "M"), scope=of.scope)

    def clean_code(self) -> str:
        try:
            return require_model_code(self.cleaned_data["code"])
        except InvalidInput as error:
            raise forms.ValidationError(error.message) from error


class ModelFactsForm(RowForm):
    """What is known of a model; its scope changes with a reason, elsewhere."""

    serializer_class = ModelFactsSerializer


class MemberForm(forms.Form):
    """People for the team; without a word on it they keep the role of their account.

    Offered are the first ones who fit the text.
    """

    user = forms.ModelMultipleChoiceField(None, label=pgettext_lazy("of a team", "People"),
                                          widget=forms.CheckboxSelectMultiple)
    role = forms.ChoiceField(choices=[("", _("as in their account")), *Role.choices],
                             required=False, label=_("Role in this engagement"))

    def __init__(self, *args, engagement: Engagement, text: str = "", **kwargs):
        super().__init__(*args, **kwargs)
        people = User.objects.filter(is_active=True).exclude(
            pk__in=engagement.memberships.values("user"))
        self.fields["user"].queryset = people
        fitting = filtered_people(people, {"q": text})
        self.fields["user"].choices = people_choices(fitting)


class PersonForm(forms.ModelForm):
    """A person's facts; for somebody who exists a password only where it is to change."""

    password = forms.CharField(label=_("Password"), strip=False, required=False,
                               widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}))

    class Meta:
        model = User
        fields = ["username", "password", *PERSON_FACTS, "is_service"]
        widgets = {"access_ends_on": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")}
        labels = {"username": _("Log-in name"), "full_name": _("Full name"),
                  "full_name_en": _("Full name (English)"),
                  "is_active": _("Enabled")}
        help_texts = {"username": "", "is_active": "",
                      "role": _("A customer's people are reviewers; auditors read only; all others "
                              "are of the firm.")}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            del self.fields["username"], self.fields["is_service"]
            if self.instance.is_service:
                del self.fields["password"]
            else:
                self.fields["password"].help_text = _("Leave empty to keep the password.")
                self.order_fields([name for name in PERSON_FACTS if name != "is_active"])

    def clean(self):
        data = super().clean()
        if not self.instance.pk and not data.get("password") and not data.get("is_service"):
            self.add_error("password", self.fields["password"].error_messages["required"])
        return data

    def _post_clean(self):
        """Nothing is put on the instance: the service compares with what is stored."""


class DelegationForm(forms.Form):
    """Who stands in, and on which days; administrators say for whom."""

    user = forms.ModelChoiceField(None, label=_("Who is away"), required=False,
                                  empty_label=_("I am"))
    delegate = forms.ModelChoiceField(None, label=_("Who stands in"))
    starts_on = forms.DateField(label=_("First day"), widget=forms.DateInput(
        attrs={"type": "date"}, format="%Y-%m-%d"))
    ends_on = forms.DateField(label=_("Last day"), widget=forms.DateInput(
        attrs={"type": "date"}, format="%Y-%m-%d"))

    def __init__(self, *args, actor: User, **kwargs):
        super().__init__(*args, **kwargs)
        people = User.objects.filter(is_active=True, is_service=False).exclude(
            role__in=OUTSIDE).exclude(pk=actor.pk).order_by("full_name", "pk")
        self.fields["delegate"].queryset = self.fields["user"].queryset = people
        if actor.role != Role.ADMINISTRATOR:
            del self.fields["user"]


class OwnPasswordForm(PasswordChangeForm):
    """A new password for whoever knows the old one; wrong ones count like those at the log-in."""

    def __init__(self, request, *args, **kwargs):
        super().__init__(request.user, *args, **kwargs)
        self.request = request

    def clean_old_password(self) -> str:
        """Only a password of the desk's own is replaced, never one that a directory knows."""
        password = self.cleaned_data["old_password"]
        if not self.user.has_usable_password() or not authenticate(
                self.request, username=self.user.get_username(), password=password):
            raise forms.ValidationError(self.error_messages["password_incorrect"],
                                        code="password_incorrect")
        return password


class ApiTokenForm(forms.Form):
    """A new API token of `owner`."""

    name = forms.CharField(label=_("What it is for"), max_length=80)
    scope = forms.ChoiceField(label=_("May do"), choices=ApiToken.Scope)
    engagement = SuggestField(
        None, label=_("Engagement"), required=False, to_field_name="code",
        widget=SuggestInput(attrs={"placeholder": _("all that its owner sees")}))
    days = forms.IntegerField(label=_("Valid for days"), min_value=1)

    def __init__(self, *args, owner: User, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["engagement"].queryset = Engagement.objects.visible_to(owner)
        hidden = {ApiToken.Scope.AGENT} | (
            set() if settings.DECIDING_TOKENS else {ApiToken.Scope.DECIDE})
        self.fields["scope"].choices = [
            choice for choice in ApiToken.Scope.choices if choice[0] not in hidden]
        self.fields["days"].initial = settings.API_TOKEN_DAYS
        self.fields["days"].widget.attrs["max"] = settings.API_TOKEN_MAX_DAYS


class CustomerForm(RowForm):
    serializer_class = CustomerSerializer


class StageCommentForm(forms.Form):
    text = forms.CharField(label=_("Comment"), max_length=2000,
                           widget=forms.Textarea(attrs={"rows": 3}))
