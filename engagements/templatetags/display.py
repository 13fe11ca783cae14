"""Tags and filters of the design system; its pages and gallery are in templates/components."""

import re
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache, lru_cache, partialmethod
from pathlib import Path
from xml.etree import ElementTree

from django import template
from django.conf import settings
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from engagements import status
from engagements.models.agent import credited
from engagements.stages import Stage, StageState
from engagements.text import text_joining
from engagements.text.language_detection import other_language

register = template.Library()
OLD_READING = timedelta(hours=1)


@register.simple_tag
def product_version() -> str:
    """The version of Delivery Desk, from pyproject.toml."""
    return settings.VERSION


@cache
def _icon_body(name: str) -> str:
    path = Path(settings.BASE_DIR) / "static" / "vendor" / "icons" / f"{name}.svg"
    try:
        root = ElementTree.fromstring(path.read_text())
    except (OSError, ElementTree.ParseError):
        return ""
    return "".join(
        f'<path d="{e.get("d")}"/>' for e in root.iter()
        if e.tag.endswith("path") and e.get("stroke") != "none")


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """An inline icon; decorative unless a label is given."""
    return _icon(str(name), str(label))


@lru_cache(maxsize=1024)  # a page has a hundred of them, nearly all without a label
def _icon(name: str, label: str) -> SafeString:
    attributes = (format_html('role="img" aria-label="{}"', label) if label
                  else mark_safe('aria-hidden="true"'))
    return format_html(
        '<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" '
        'stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" {}>{}</svg>',
        attributes, mark_safe(_icon_body(name)))


@register.simple_tag
def tag(code: str, label: str = "") -> SafeString:
    """A status tag: colour, icon and text, never colour alone."""
    return _tag(str(code), str(label), get_language())


@lru_cache(maxsize=1024)  # a matrix of 300 models shows the same few tags 2,400 times
def _tag(code: str, label: str, _language: str = "") -> SafeString:
    found = status.look(code)
    return format_html(
        '<span class="badge desk-tag bg-{}-lt">{}<span>{}</span></span>', found.colour,
        icon(found.icon), label or status.WORDS.get(code, code))


@register.filter
def through(person, agent) -> str:
    """Who did it, with the agent through which it was done, if it was one."""
    return credited(person, agent)


@register.filter
def colour(code) -> str:
    """The colour of a state, for the class of what is no tag."""
    return status.look(str(code)).colour


@register.simple_tag
def state_tag(instance, field: str = "state") -> SafeString:
    """The tag of a model's state, with its translated label; with what it came to where the model
    has a `state_outcome`."""
    outcome = getattr(instance, "state_outcome", None) if field == "state" else None
    if outcome:
        return _tag(*outcome)
    code = getattr(instance, field)
    return _tag(str(code), choice_label(type(instance), field, code, get_language())
                or getattr(instance, f"get_{field}_display")())


@lru_cache(maxsize=4096)
def choice_label(model, field: str, code: str, _language: str) -> str:
    """The label of a choice in the active language; "" for what is no column with choices."""
    columns = {column.name: column for column in model._meta.concrete_fields}
    if field not in columns or not isinstance(
            model.__dict__.get(f"get_{field}_display"), partialmethod):
        return ""
    return str(dict(columns[field].flatchoices).get(code, code))


# A cell of a matrix shows the state by its icon alone; no two states share one.
STATE_ICONS = {
    StageState.NOT_STARTED: "circle-dashed", StageState.IN_PROGRESS: "player-play",
    StageState.SUBMITTED: "send", StageState.PASSED: "check", StageState.WAIVED: "signature",
    StageState.SENT_BACK: "arrow-back-up", StageState.SKIPPED: "x",
}


@register.simple_tag
def state_cell(record, model, url: str) -> SafeString:
    """A link to the stage: its state as an icon of 36 px, named by model, stage and state."""
    label = f"{model.code} · {_label(record, 'stage')}{colon()}{_label(record, 'state')}"
    return mark_safe(f'{_cell_head(record.state)} href="{escape(url)}" title="{escape(label)}">'
                     f'{_cell_icon(record.state)}</a>')


@lru_cache(maxsize=64)
def _cell_head(state: str) -> str:
    return f'<a class="desk-cell bg-{colour(state)}-lt"'


@lru_cache(maxsize=64)
def _cell_icon(state: str) -> SafeString:
    return format_html('<svg class="icon" aria-hidden="true"><use href="#s-{}"/></svg>', state)


@register.simple_tag
def state_symbols() -> SafeString:
    """The icons of all states, once for a page: the cells of its matrix only name them."""
    symbols = format_html_join("", '<symbol id="s-{}" viewBox="0 0 24 24">{}</symbol>', (
        (state, mark_safe(_icon_body(name))) for state, name in STATE_ICONS.items()))
    return format_html('<svg class="desk-symbols" aria-hidden="true">{}</svg>', symbols)


@register.simple_tag
def state_key(state: str) -> SafeString:
    """What an icon of the matrix means: the icon and its state in words."""
    return format_html('<span class="desk-cell is-small bg-{}-lt">{}</span> {}',
                       colour(state), icon(STATE_ICONS[StageState(state)]),
                       StageState(state).label)


@register.simple_tag
def practice(is_practice=True) -> SafeString:
    """The mark of practice data, or nothing. In rows its icon stands alone (`pages.css`)."""
    if not is_practice:
        return mark_safe("")
    return format_html('<span class="badge desk-practice" title="{}">{} <span>{}</span></span>',
                       _("Produced by a practice node: not evidence"), icon("flask"),
                       _("Practice"))


@register.inclusion_tag("components/steps.html")
def steps(records) -> dict:
    """The step bar of one model: its stage records in order."""
    return {"steps": [{
        "label": _label(record, "stage"), "state": record.state,
        "state_label": _label(record, "state"), "number": n,
        "url": _stage_url(record)} for n, record in enumerate(records, 1)]}


def _label(row, field: str) -> str:
    return choice_label(type(row), field, getattr(row, field), get_language())


def _stage_url(record) -> str:
    return reverse("engagements:stage", args=[
        record.model.engagement.code, record.model.code, record.stage])


@register.inclusion_tag("components/steps.html")
def overall_steps(summary) -> dict:
    """The step bar of an engagement: (stage, passed, in scope, started) per stage."""
    entries = []
    for n, row in enumerate(summary, 1):
        done = row["in_scope"] and row["passed"] == row["in_scope"]
        state = (StageState.PASSED if done else
                 StageState.IN_PROGRESS if row["started"] else StageState.NOT_STARTED)
        entries.append({"label": Stage(row["stage"]).label, "state": state, "number": n, "url": "",
                        "state_label": f"{row['passed']}/{row['in_scope']}"})
    return {"steps": entries}


@register.filter
def choice(row, field: str) -> str:
    """The label of a column with choices, as its `get_…_display`; looked up once per language."""
    return _label(row, field)


@register.filter
def money(value) -> str:
    """¥ with thousands separators and two decimals; a missing amount is not known."""
    return known(value) if value is None else f"¥{Decimal(value):,.2f}"


@register.filter
def when(value: datetime | None) -> str:
    """YYYY-MM-DD HH:mm:ss in Asia/Shanghai; -- for no data."""
    return timezone.localtime(value).strftime("%Y-%m-%d %H:%M:%S") if value else "--"


@register.filter
def minute(value: datetime | None) -> str:
    """YYYY-MM-DD HH:mm of what is estimated; -- for no data."""
    return timezone.localtime(value).strftime("%Y-%m-%d %H:%M") if value else "--"


@register.filter
def duration(seconds) -> str:
    """h:mm:ss or mm:ss of a number of seconds or a timedelta."""
    if seconds is None:
        return "--"
    total = int(getattr(seconds, "total_seconds", lambda: seconds)())
    hours, rest = divmod(max(0, total), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60:02}:{rest % 60:02}"


@register.filter
def size(value) -> str:
    """Bytes as B, KB, MB or GB (1024)."""
    number = float(value or 0)
    for unit in ("B", "KB", "MB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GB"


@register.filter
def short_hash(value: str) -> SafeString:
    """The first twelve digits of a SHA-256; the whole one on hovering."""
    return format_html('<code class="desk-hash" title="{}">{}…</code>', value, (value or "")[:12])


@register.filter
def own_links(text: str) -> SafeString:
    """Text with links to addresses of this desk; others, which people wrote, stay text."""
    desk, end = re.escape(settings.PUBLIC_URL.rstrip("/")), "\\s<>，。；：）"
    address = re.compile(rf"({desk}/[^{end}]*[^{end}.,;:)])")
    return mark_safe("".join(
        format_html('<a href="{0}">{0}</a>', part) if number % 2 else escape(part)
        for number, part in enumerate(address.split(text))))


@register.filter
def dash(value):
    """-- where there is no data (DOMAIN 12)."""
    return "--" if value in (None, "") else value


@register.filter
def known(value):
    """"not known" for what is there without our knowing it, where -- would read as none."""
    return _("not known") if value in (None, "") else value


@register.filter
def age(read_at: datetime | None):
    """How old a reading is; in amber from an hour on, which is no state of now."""
    if not read_at:
        return known(None)
    text = _("%(time)s old") % {"time": timesince(read_at, depth=1)}
    return tag("warning", text) if timezone.now() - read_at >= OLD_READING else text


@register.simple_tag
def colon() -> str:
    """What stands between a label and its text in the active language."""
    return text_joining.colon()


@register.filter
def bracketed(value) -> str:
    """A remark in brackets, straight behind a word; nothing for an empty one."""
    return text_joining.bracketed(value)


@register.filter
def listed(values) -> str:
    """Words of a list, separated as the active language does."""
    return text_joining.listed(values)


@register.simple_tag
def following(sentence: str, sentences) -> str:
    """A sentence, and further ones behind it."""
    return text_joining.following(sentence, *sentences)


@register.simple_tag(takes_context=True)
def menu_item(context, route: str, icon_name: str, label: str, *also: str) -> SafeString:
    """An entry of the side menu; the one whose page is open is marked.

    Args:
        also: where other pages of the entry begin.
    """
    url = _menu_address(route)
    if not url:
        return mark_safe("")
    path = context["request"].path
    return _menu_entry(url, icon_name, str(label),
                       path == url if url == "/" else path.startswith((url, *also)))


@lru_cache(maxsize=256)
def _menu_address(route: str) -> str:
    try:
        return reverse(route)
    except NoReverseMatch:
        return ""


@lru_cache(maxsize=512)
def _menu_entry(url: str, icon_name: str, label: str, is_open: bool) -> SafeString:
    return format_html(
        '<li{}><a href="{}"{}>{}<span>{}</span></a></li>',
        mark_safe(' class="is-open"') if is_open else "", url,
        mark_safe(' aria-current="page"') if is_open else "", icon(icon_name), label)


@register.simple_tag
def may(user, action: str) -> bool:
    """Whether the user's role includes an action of `engagements.access.Can`."""
    from engagements.access import Can, allowed

    return allowed(user, Can(action))


@register.filter
def written(value):
    """Free text that people wrote in one language, marked where the page is in the other.

    A table of such texts has the mark once, in its head; the texts are `in_its_language`.
    """
    mark = chinese_mark(value)
    return format_html("{} {}", in_its_language(value), mark) if mark else in_its_language(value)


@register.filter
def in_its_language(value):
    """The text; where it is not in the language of the page or document, with its `lang`."""
    language = other_language(str(value))
    return format_html('<span lang="{}">{}</span>', language, value) if language else value


@register.filter
def chinese_mark(value) -> str:
    """The small sign that says of a text on an English page that it is Chinese."""
    if other_language(str(value)) != "zh-Hans":
        return ""
    return format_html('<small class="desk-written" title="{}">中</small>',
                       _("Written in Chinese; there is no translation."))
