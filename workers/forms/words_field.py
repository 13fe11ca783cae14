"""A field for the words of a command line: one input per word, so that nothing is quoted."""

from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from workers.kinds.parameters import as_words

SPARE = 3  # empty inputs, for browsers without scripts
EMPTY_WORD = '""'
HELP = _("One argument per field. Blanks and quotes in a field belong to its argument; a field "
         "with only \"\" is an empty argument. A command line pasted into an empty field is split "
         "as a shell would.")


class OurWidget(forms.Widget):
    """A widget whose template lies with the others."""

    def _render(self, template_name: str, context: dict, renderer=None) -> SafeString:
        return render_to_string(template_name, context)


class WordsInput(OurWidget):
    template_name = "workers/words_input.html"

    def get_context(self, name: str, value: Any, attrs: dict | None) -> dict:
        context = super().get_context(name, value, attrs)
        words = [word or EMPTY_WORD for word in _words(value)]
        context["widget"]["words"] = [*words, *[""] * SPARE]
        return context

    def value_from_datadict(self, data, files, name: str) -> list[str] | None:
        """Without empty inputs; a list of one text where the data is no form's."""
        given = data.getlist(name) if hasattr(data, "getlist") else _words(data.get(name))
        return ["" if word == EMPTY_WORD else word for word in given if word]

    def id_for_label(self, id_: str) -> str:
        return f"{id_}_0" if id_ else id_


class WordsField(forms.Field):
    """A list of texts. What is allowed in them is said by the kind's parameter."""

    widget = WordsInput

    def __init__(self, explains: bool = True, **kwargs) -> None:
        """Args: `explains`, whether the help says how words are entered."""
        help_text = kwargs.pop("help_text", "")
        texts = [help_text, HELP] if explains or not help_text else [help_text]
        super().__init__(help_text=" ".join(str(text) for text in texts if text), **kwargs)

    def to_python(self, value: Any) -> list[str]:
        return _words(value)


def _words(value: Any) -> list[str]:
    """The words of a list or a text; a text with an open quote is one word."""
    try:
        return as_words(value)
    except ValueError:
        return [str(value)]
