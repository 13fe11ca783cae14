"""Forms that are always refused, and what of that the answer does not tell."""

from django.contrib.messages import get_messages
from django.forms import BaseForm
from django.forms.formsets import ManagementForm
from django.test.html import parse_html

SENT = {"csrfmiddlewaretoken": "x"}  # a browser's form is never quite empty


def refuse_every_form(monkeypatch) -> list[BaseForm]:
    """As if a service had refused what the form asks for; the list fills with such forms."""
    clean, refused = BaseForm.full_clean, []

    def full_clean(form):
        clean(form)
        if form.is_bound and not isinstance(form, ManagementForm):
            form.add_error(None, "Refused by this test.")
            refused.append(form)

    monkeypatch.setattr(BaseForm, "full_clean", full_clean)
    return refused


def untold(answer, refused: list[BaseForm]) -> set[tuple[str, str, str]]:
    """Errors that are not announced on the page, or on the next one: form, field, sentence."""
    if answer.status_code == 302:
        text = " ".join(f"{message}" for message in get_messages(answer.wsgi_request))
        return {(type(form).__name__, "", "redirected without a word") for form in refused
                if not text}
    text = _announced(parse_html(answer.content.decode()))
    return {(type(form).__name__, field, sentence) for form in refused
            for field, sentences in form.errors.items() for sentence in sentences
            if " ".join(sentence.split()) not in text}


def _announced(part, *, is_alert: bool = False) -> str:
    """What a page says aloud as it opens: text with `role=alert` that is neither hidden nor
    folded."""
    if isinstance(part, str):
        return " ".join(part.split()) if is_alert else ""
    has = dict(part.attributes)
    if "hidden" in has:
        return ""
    is_folded = part.name == "details" and "open" not in has
    return " ".join(_announced(child, is_alert=is_alert or has.get("role") == "alert")
                    for child in part.children
                    if not is_folded or getattr(child, "name", "") == "summary")
