"""Forms of the customer's review."""

from django import forms
from django.utils.translation import gettext_lazy as _

from assessments.models import Criterion
from delivery.acceptance.document_verification import NOT_SHA256, SHA256
from delivery.acceptance.models import (
    AcceptanceTerms,
    Condition,
    Identification,
    NoticeProof,
    Review,
    Signature,
    WarrantyClaim,
)
from delivery.acceptance.models.review import CHOSEN
from delivery.planning.models import ProjectIssue
from engagements.models import Engagement, User
from workers.models import Node


def date_input() -> forms.DateInput:
    return forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


class CommentForm(forms.Form):
    """A remark; answers name the one that began the exchange."""

    model = forms.ModelChoiceField(None, label=_("About"), required=False,
                                   empty_label=_("The whole document"))
    criterion = forms.ModelChoiceField(None, required=False, widget=forms.HiddenInput)
    answers = forms.ModelChoiceField(None, required=False, widget=forms.HiddenInput)
    text = forms.CharField(label=_("Comment"), widget=forms.Textarea(attrs={"rows": 3}))
    is_internal = forms.BooleanField(label=_("Team only; never visible to the customer"),
                                     required=False)

    def __init__(self, *args, review: Review, user: User, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["model"].queryset = review.document.engagement.models.all()
        self.fields["criterion"].queryset = Criterion.objects.filter(
            model__engagement=review.document.engagement_id)
        self.fields["answers"].queryset = review.comments.visible_to(user)
        if user.is_reviewer:
            del self.fields["is_internal"]


class DecisionForm(forms.Form):
    decision = forms.ChoiceField(label=_("Decision"), choices=CHOSEN, widget=forms.RadioSelect)
    reason = forms.CharField(label=_("Reason or remark"), required=False,
                             widget=forms.Textarea(attrs={"rows": 3}),
                             help_text=_("Required for a rejection unless each rejected model "
                                         "has its own reason."))
    retest_on = forms.DateField(
        label=_("Date of the repeated inspection"), required=False, widget=date_input(),
        help_text=_("Needed where something is rejected."))


class ModelDecisionForm(forms.Form):
    """The decision on one model; empty goes with the whole."""

    SHORT = [("accepted", _("Pass")), ("conditional", _("With conditions")),
             ("rejected", _("Fail"))]

    model = forms.CharField(widget=forms.HiddenInput)
    decision = forms.ChoiceField(label=_("Decision"), required=False, choices=SHORT,
                                 widget=forms.RadioSelect)
    reason = forms.CharField(label=_("Reason"), required=False)


ModelDecisionFormSet = forms.formset_factory(ModelDecisionForm, extra=0, max_num=200,
                                             absolute_max=200)


class ConditionForm(forms.Form):
    description = forms.CharField(label=_("Outstanding issue"), max_length=400)
    model = forms.ChoiceField(label=_("About"), required=False)
    owner_user = forms.ChoiceField(label=_("Responsible"), required=False)
    owner = forms.CharField(label=_("Responsible, without an account here"), max_length=80,
                            required=False)
    due_on = forms.DateField(label=_("Due"), widget=date_input())
    effect = forms.ChoiceField(label=_("Effect on the final acceptance"),
                               choices=Condition.Effect, initial=Condition.Effect.BLOCKS)

    def __init__(self, *args, codes=(), people=(), **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["owner_user"].choices = [
            ("", _("somebody without an account")),
            *((user.username, f"{user} · {user.get_role_display()}") for user in people)]
        self.fields["model"].choices = [("", _("The whole document")),
                                        *((code, code) for code in codes)]

    def has_changed(self) -> bool:
        """Only what is written makes an issue; a row of mere choices is empty."""
        return not {"description", "owner", "due_on"}.isdisjoint(self.changed_data)


class PrefilledFormSet(forms.BaseFormSet):
    """Rows that are offered beforehand are as free as empty ones: emptied, they are left out."""

    def initial_form_count(self) -> int:
        return 0

    def total_form_count(self) -> int:
        return super().total_form_count() + (0 if self.is_bound else len(self.initial or ()))


ConditionFormSet = forms.formset_factory(ConditionForm, PrefilledFormSet, extra=3, max_num=40,
                                         absolute_max=40)


class ReceiptForm(forms.Form):
    """Items of the check-list by their keys: ticked as received, or with a remark what is missing
    or wrong."""

    MISSING = "missing:"

    def clean(self) -> dict:
        remarks = {name.removeprefix(self.MISSING): text.strip()[:400]
                   for name, text in self.data.items()
                   if name.startswith(self.MISSING) and text.strip()}
        return {"keys": self.data.getlist("keys"), "missing": remarks}


class IdentifyForm(forms.Form):
    """Name and capacity are on record; the latter is asked for where it is not."""

    capacity = forms.CharField(label=_("Capacity"), max_length=80, required=False,
                               help_text=_("For example: head of the project team, party A"))
    agrees = forms.BooleanField(label=_("Terms of signing"))  # the button says so
    way = forms.ChoiceField(label=_("Where the code is from"), required=False,
                            choices=Identification.Way)

    def __init__(self, *args, known: str = "", **kwargs):
        super().__init__(*args, **kwargs)
        if known:
            del self.fields["capacity"]

    def clean_way(self) -> str:
        return self.cleaned_data["way"] or Identification.Way.MAIL


class SignForm(forms.Form):
    code = forms.CharField(
        label=_("One-time code"), max_length=12, required=False,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "one-time-code"}))
    passkey = forms.JSONField(required=False, widget=forms.HiddenInput)
    mark = forms.ChoiceField(label=_("How you sign"), choices=Signature.Mark,
                             initial=Signature.Mark.TYPED, widget=forms.RadioSelect)
    strokes = forms.CharField(required=False, widget=forms.HiddenInput, max_length=200_000)
    scan = forms.FileField(
        label=_("Scan of the signed and sealed paper"), required=False,
        help_text=_("PDF, PNG or JPEG, up to 10 MB; only if you sign with a scan."))
    confirmed = forms.BooleanField(label=_("Confirmation"))  # the button says so


class ReasonForm(forms.Form):
    reason = forms.CharField(label=_("Reason"), max_length=400,
                             widget=forms.Textarea(attrs={"rows": 2}))


class DelegateForm(ReasonForm):
    """The colleague who signs instead."""

    user = forms.ModelChoiceField(None, label=_("Who signs instead"), to_field_name="username")
    field_order = ["user", "reason"]

    def __init__(self, *args, review: Review, actor: User, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["user"].queryset = User.objects.filter(
            memberships__engagement=review.document.engagement_id, role="reviewer",
            is_active=True).exclude(pk=actor.pk).exclude(
            pk__in=review.signers.values("user")).order_by("pk")


class SignersForm(forms.Form):
    """Up to six signers in order; more where more are named."""

    PLACES = 6

    def __init__(self, *args, review: Review, **kwargs):
        super().__init__(*args, **kwargs)
        people = User.objects.filter(
            memberships__engagement=review.document.engagement_id, role="reviewer",
            is_active=True).order_by("pk")
        people = people.exclude(pk__in=review.signatures.values("signer"))
        named = list(review.signers.exclude(state="signed").values_list("user", flat=True))
        for n in range(min(max(self.PLACES, len(named)), people.count())):
            self.fields[f"signer_{n}"] = forms.ModelChoiceField(
                people, label=f"{n + 1}.", required=False, empty_label="--",
                initial=named[n] if n < len(named) else None)

    def users(self) -> list[User]:
        """The chosen people in order."""
        return [user for user in self.cleaned_data.values() if user]


class TermsForm(forms.ModelForm):
    class Meta:
        model = AcceptanceTerms
        fields = ["has_preliminary", "trial_days", "review_days", "is_deemed", "clause",
                  "needs_power", "needs_third_party", "warranty_months"]

    def validate_constraints(self) -> None:
        """The service says in a sentence what the constraint would only name."""


class PowerOfAttorneyForm(forms.Form):
    """A power of attorney with its scan."""

    user = forms.ModelChoiceField(None, label=_("Who may sign"))
    capacity = forms.CharField(label=_("Capacity"), max_length=80, help_text=_(
        "For example: head of the project team, party A"))
    granted_by = forms.CharField(label=_("Granted by"), max_length=120, help_text=_(
        "For example: the legal representative, by name"))
    valid_from = forms.DateField(label=_("Valid from"), widget=date_input())
    valid_until = forms.DateField(label=_("Valid until"), required=False, widget=date_input(),
                                  help_text=_("Leave empty: valid until ended here."))
    file = forms.FileField(label=_("Scan (PDF, PNG or JPEG)"))

    def __init__(self, *args, engagement, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["user"].queryset = User.objects.filter(
            memberships__engagement=engagement, role="reviewer", is_active=True).order_by("pk")


class ThirdPartyReportForm(forms.Form):
    """A laboratory's test report with its file."""

    laboratory = forms.CharField(label=_("Laboratory"), max_length=160, help_text=_(
        "Its full registered name, as on the report"))
    cnas_number = forms.CharField(label=_("CNAS accreditation number"), max_length=40,
                                  required=False, help_text=_("As on the report"))
    cma_number = forms.CharField(label=_("CMA certificate number"), max_length=40,
                                 required=False, help_text=_("As on the report"))
    report_number = forms.CharField(label=_("Report number"), max_length=80)
    issued_on = forms.DateField(label=_("Date of the report"), widget=date_input())
    scope = forms.CharField(label=_("What was tested"), max_length=4000, help_text=_(
        "Models, metrics and conditions that the report covers"),
        widget=forms.Textarea(attrs={"rows": 3}))
    file = forms.FileField(label=_("Report (PDF, PNG or JPEG)"))


class BlockerWaiverForm(forms.Form):
    """Which of what holds up the final acceptance is let pass, and why."""

    checks = forms.MultipleChoiceField(label=_("Lets pass"), widget=forms.CheckboxSelectMultiple)
    reason = forms.CharField(label=_("Reason for the waiver"), max_length=2000,
                             widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, *args, blockers: list[dict], **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["checks"].choices = [(row["code"], row["sentence"]) for row in blockers]


class NoticeForm(forms.Form):
    channel = forms.ChoiceField(label=_("How it was delivered"), choices=NoticeProof.Channel)
    addressee = forms.CharField(label=_("Addressee"), max_length=120)
    reference = forms.CharField(label=_("Receipt or tracking number"), max_length=120)
    delivered_on = forms.DateField(label=_("Delivered on"), widget=date_input())
    file = forms.FileField(label=_("Receipt (PDF, PNG or JPEG)"), required=False)


class VerificationForm(forms.Form):
    """Number and checksum, typed in or taken from the QR code."""

    number = forms.CharField(label=_("Document number"), max_length=60)
    hash = forms.RegexField(SHA256, label=_("Content hash, or SHA-256 of the file"),
                            error_messages={"invalid": NOT_SHA256})


class ClaimForm(forms.Form):
    """A defect that is claimed under the warranty."""

    model = forms.ModelChoiceField(None, label=_("Model"), required=False,
                                   empty_label=_("The whole engagement"))
    description = forms.CharField(label=_("What is wrong"),
                                  widget=forms.Textarea(attrs={"rows": 3}))
    found_on = forms.DateField(label=_("Found on"), widget=date_input())
    file = forms.FileField(label=_("File (PDF, PNG or JPEG)"), required=False)

    def __init__(self, *args, engagement, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["model"].queryset = engagement.models.all()


class StepForm(forms.Form):
    """A step on `row`, sent to `action`: a page that shows it refused finds its place by them."""

    def __init__(self, *args, row, action: str = "", **kwargs):
        super().__init__(*args, **kwargs)
        self.row, self.action = row, action


class FollowUpForm(StepForm):
    """What is said about a condition, an issue or a claim, with a file."""

    text = forms.CharField(label=_("Remark"), max_length=2000, required=False,
                           widget=forms.Textarea(attrs={"rows": 2}))
    file = forms.FileField(label=_("File (PDF, PNG or JPEG)"), required=False)


class ConditionReportForm(StepForm):
    report = forms.CharField(label=_("How it was dealt with"), max_length=400)
    file = forms.FileField(label=_("File (PDF, PNG or JPEG)"), required=False)


class NewDateForm(FollowUpForm):
    due_on = forms.DateField(label=_("New due date"), required=False, widget=date_input())


class TrialIssueForm(forms.Form):
    """What the customer found in the trial run."""

    description = forms.CharField(label=_("What is wrong"), max_length=400,
                                  widget=forms.Textarea(attrs={"rows": 3}))
    level = forms.ChoiceField(label=_("Severity"), choices=ProjectIssue.Level,
                              widget=forms.RadioSelect)
    model = forms.ModelChoiceField(None, label=_("Model"), required=False,
                                   empty_label=_("The whole engagement"))
    file = forms.FileField(label=_("File (PDF, PNG or JPEG)"), required=False)

    def __init__(self, *args, engagement, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["model"].queryset = engagement.models.all()


class RepairForm(StepForm):
    """What was repaired, and the run that shows it."""

    report = forms.CharField(label=_("What was repaired"), max_length=400)
    regression = forms.ModelChoiceField(None, label=_("Run that shows it"), help_text=_(
        "A run that succeeded after the claim was raised."))

    def __init__(self, *args, row: WarrantyClaim, **kwargs):
        super().__init__(*args, row=row, **kwargs)
        runs = row.engagement.jobs.whole().filter(
            state="succeeded", finished_at__gte=row.raised_at)
        self.fields["regression"].queryset = (
            runs.filter(model=row.model) if row.model else runs).order_by("-pk")


class RegressionForm(forms.Form):
    """Which model's accepted runs are repeated, where, and what is new there."""

    model = forms.ModelChoiceField(None, label=_("Model"))
    node = forms.ModelChoiceField(None, label=_("Node"))
    release = forms.CharField(label=_("What is new"), max_length=120, help_text=_(
        "For example: CANN 8.2.RC1"))

    def __init__(self, *args, engagement: Engagement, user: User, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["model"].queryset = engagement.models.current()
        self.fields["node"].queryset = Node.objects.visible_to(user)
