"""Fields of forms that take several files."""

from django import forms


class ManyFilesInput(forms.FileInput):
    allow_multiple_selected = True


class ManyFiles(forms.FileField):
    """Any number of files; the cleaned value is a list."""

    widget = ManyFilesInput

    def clean(self, data, initial=None):
        files = data if isinstance(data, list | tuple) else [data] if data else []
        if not files:
            return super().clean(None, initial) or []
        return [super(ManyFiles, self).clean(each, initial) for each in files]
