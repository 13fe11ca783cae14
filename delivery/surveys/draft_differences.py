"""What a draft of the questionnaire changes, question by question."""

from django.utils.translation import gettext as _

ADDED, REMOVED, CHANGED = "added", "removed", "changed"


def differences(before: list[dict], after: list[dict]) -> list[dict]:
    """Added, removed and changed questions by key, with the fields that differ.

    Returns:
        rows of {"key", "what", "fields": [(name, before, after)]}; a changed order is a row of
        its own, without a key.
    """
    old, new = ({entry["key"]: entry for entry in entries} for entries in (before, after))
    rows = [{"key": key, "what": ADDED, "fields": []} for key in new if key not in old]
    rows += [{"key": key, "what": REMOVED, "fields": []} for key in old if key not in new]
    for key in (key for key in new if key in old and new[key] != old[key]):
        fields = [(name, shown(old[key].get(name)), shown(value))
                  for name, value in new[key].items() if old[key].get(name) != value]
        rows.append({"key": key, "what": CHANGED, "fields": fields})
    common = [[key for key in entries if key in old and key in new] for entries in (old, new)]
    if common[0] != common[1]:
        rows.append({"key": "", "what": CHANGED, "fields": [(_("order"), "", "")]})
    return rows


def shown(value) -> str:
    """A field of a question as text: options and conditions as in the form."""
    if isinstance(value, list):
        return option_lines(value)
    if isinstance(value, dict):
        return condition_lines(value)
    return (_("Yes") if value else _("No")) if isinstance(value, bool) else str(value or "")


def option_lines(options: list[dict]) -> str:
    """One option per line: `code = 中文 | English`."""
    return "\n".join(f"{o['code']} = {o['label']} | {o['label_en']}" for o in options)


def condition_lines(condition: dict[str, list[str]]) -> str:
    """One question per line: `key = code, code`."""
    return "\n".join(f"{key} = {', '.join(codes)}" for key, codes in condition.items())
