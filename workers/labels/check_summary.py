"""What a look at a job that is not queued has found, in one sentence."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext


def summary(errors: int, warnings: int = 0, without_data: int | None = None) -> str:
    """Numbers of what was found; None for rules that were not asked."""
    counted = ngettext("%(n)d error", "%(n)d errors", errors) % {"n": errors}
    if without_data is None:
        return _("Checked: %(errors)s. The rules are applied once the values are complete.") % {
            "errors": counted}
    return _("Checked: %(errors)s, %(warnings)s, %(missing)s.") % {
        "errors": counted,
        "warnings": ngettext("%(n)d warning", "%(n)d warnings", warnings) % {"n": warnings},
        "missing": ngettext("%(n)d rule lacks data", "%(n)d rules lack data", without_data) % {
            "n": without_data}}
