"""Forms of channels and preferences."""

from django import forms
from django.utils.translation import gettext_lazy as _

from delivery.notices.event_kinds import KINDS
from delivery.notices.models import MailSetting, Pace, Preference
from delivery.notices.serializers import ChannelSerializer, MailSettingSerializer
from engagements.models import Engagement
from engagements.text.text_joining import labelled
from engagements.web.row_form import RowForm
from engagements.web.suggest_field import SuggestField


class ChannelForm(RowForm):
    """A channel. Address and secret are never put back into the page."""

    serializer_class = ChannelSerializer
    left_out = ()
    offered = {"engagement": Engagement.objects.visible_to}

    url = forms.CharField(
        label=_("Address"), max_length=2000,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=_("As shown in the robot's settings. It is stored encrypted and never shown "
                    "again."))
    secret = forms.CharField(
        label=_("Signing secret"), required=False, max_length=400,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=_("DingTalk and Feishu: where the robot asks for a signature. WeCom has none. "
                    "Webhook: leave it empty to have one generated; it is shown once."))
    engagement = SuggestField(
        Engagement.objects.none(), label=_("Engagement"), required=False, to_field_name="code",
        help_text=_("Leave empty for all engagements and nodes."))
    kinds = forms.MultipleChoiceField(
        label=_("Which events"), required=False, widget=forms.CheckboxSelectMultiple,
        choices=[(kind.code, kind.title) for kind in KINDS.values()],
        help_text=_("None selected: all events."))

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.instance:
            self.initial.update(url="", secret="")
            self.fields["url"].required = False
            self.fields["url"].help_text = _("Leave empty to keep the stored one.")
            self.fields["secret"].help_text = _("Leave empty to keep the stored one.")


class ReplayForm(forms.Form):
    """From when on a webhook is sent everything again."""

    since = forms.DateTimeField(label=_("since"), widget=forms.DateTimeInput(
        attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"))


class MailSettingForm(RowForm):
    """Language and quiet hours of one's own e-mails."""

    serializer_class = MailSettingSerializer
    widgets = {"language": forms.Select(attrs={"class": "form-select"})} | {
        name: forms.TimeInput(attrs={"type": "time", "class": "form-control"}, format="%H:%M")
        for name in ("quiet_from", "quiet_until")}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["language"].choices = [("", _("Same as the installation")),
                                           *MailSetting.Language.choices]


class PreferenceRow(forms.Form):
    """What a person wants of one kind of event."""

    in_inbox = forms.BooleanField(required=False)
    email = forms.ChoiceField(choices=Pace.choices)

    def __init__(self, data=None, *, preference: Preference):
        super().__init__(data, prefix=preference.kind, initial={
            "in_inbox": preference.in_inbox, "email": preference.email})
        self.kind = KINDS[preference.kind]
        for name, label in (("in_inbox", _("in the inbox")), ("email", _("by e-mail"))):
            self.fields[name].widget.attrs["aria-label"] = labelled(self.kind.title, label)
        self.fields["in_inbox"].widget.attrs["class"] = "form-check-input"
        self.fields["email"].widget.attrs["class"] = "form-select form-select-sm desk-pace"
