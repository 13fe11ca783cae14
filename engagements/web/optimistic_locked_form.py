"""The form of a row under optimistic locking."""

from django import forms


class OptimisticLockedForm(forms.ModelForm):
    """A form that remembers which version of the row its page showed."""

    seen = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["seen"].initial = self.instance.lock_version
        else:
            del self.fields["seen"]

    def split_version(self) -> tuple[int | None, dict]:
        """(version seen, the other fields) for the service."""
        fields = dict(self.cleaned_data)
        return fields.pop("seen", None), fields
