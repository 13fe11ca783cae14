"""Warnings of readers on accuracy in the active language; the readers write plain English."""

from django.utils.translation import gettext as _


def reading_warning(warning: dict) -> str:
    """The warning by its code; the reader's own words where the code is not known here."""
    texts = {
        "env_columns_exchanged": _("The tool prints both sides of the environment exchanged; they "
                                   "were put right."),
        "seeds_not_compared": _("The random calls were compared by place and number only, never "
                                "by their seeds."),
        "not_compared": _("Some parts were not packed and so not compared."),
        "summary_contradicts_sheet": _("The tool's summary passes a part that holds differences."),
        "nonfinite_values": _("Some rows hold NaN or Inf."),
        "unmatched_operators": _("Some operators have no counterpart on the other side."),
        "tool_verdict_passes_deviation": _("The tool itself does not flag some deviating rows."),
        "dtype_mismatch": _("Some rows compare different data types."),
        "shape_mismatch": _("Some rows compare different shapes."),
        "no_rows": _("Nothing was compared: the file holds no row."),
        "truncated_record": _("Incomplete rows of the file are left out."),
        "unknown_status_bit": _("A set bit is not in the documented table."),
        "status_not_decoded": _("The bits of a block are not documented."),
        "bits_of_older_layout": _("The meanings of the bits come from the older layout; check them "
                                  "for this chip."),
        "operator_unknown": _("The operator's dump file was not found; only its task is known."),
    }
    return texts.get(warning.get("code"), warning.get("message", ""))
