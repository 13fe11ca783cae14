"""A field for a path of the node, or for a stored file or folder that is to be brought there."""

from django import forms

from workers.forms.words_field import OurWidget


class PathInput(OurWidget, forms.TextInput):
    """Args: `engagement`, whose files are offered; None for the firm's own."""

    template_name = "workers/path_input.html"

    def __init__(self, engagement=None) -> None:
        super().__init__(attrs={"spellcheck": "false", "autocomplete": "off"})
        self.engagement = engagement

    def get_context(self, name, value, attrs) -> dict:
        context = super().get_context(name, value, attrs)
        return {**context, "engagement": self.engagement}
