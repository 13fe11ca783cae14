"""Words for the codes of a quote's checks, relation, and steps in its history."""

from django.utils.translation import gettext_lazy as _

CHECKS = {
    "PARTIES": _("Both parties"), "R-QUO-01": _("Lines and totals"), "R-QUO-02": _("Tax"),
    "R-QUO-03": _("Amount in words"), "R-QUO-04": _("Payment milestones"),
    "R-QUO-05": _("Validity"), "R-QUO-06": _("Discount"), "R-QUO-07": _("Completeness of lines"),
    "R-QUO-08": _("Staffing"), "R-QUO-09": _("Scope"),
    "R-QUO-10": _("Exchange rate and price lists"), "R-QUO-11": _("Tax rates"),
    "R-QUO-12": _("Newest version"), "R-QUO-13": _("Quotes accepted before"),
    "R-QUO-14": _("Price and exclusions"), "R-QUO-15": _("Tax identity"),
    "R-QUO-17": _("Framework contract"),
}
RELATIONS = {  # of a quote to those that were accepted before it
    "adds": _("Agreed on besides %(quotes)s, which stays in force."),
    "replaces": _("Replaces %(quotes)s."),
}
STEPS = {
    "quote.create": _("Created"), "quote.new_version": _("New version started"),
    "quote.add_line": _("Line added"), "quote.add_lines": _("Lines added"),
    "quote.change_line": _("Line changed"), "quote.remove_line": _("Line removed"),
    "quote.update": _("Terms changed"), "quote.submit": _("Submitted for review"),
    "quote.review": _("Review confirmed"), "quote.return": _("Sent back"),
    "quote.withdraw": _("Withdrawn by its author"), "quote.approve": _("Approved"),
    "quote.issue": _("Issued to the customer"), "quote.accepted": _("Accepted by the customer"),
    "quote.declined": _("Declined by the customer"),
    "quote.answer_recorded": _("Answer from outside the portal recorded"),
    "quote.answer_checked": _("Recorded answer checked"), "quote.expire": _("Expired"),
    "quote.revoke": _("Revoked by the firm"),
    "quote.copy": _("Copied"), "quote.discard": _("Draft discarded"),
    "quote.file": _("File stored"), "file.download": _("File downloaded"),
    "quote.supersede": _("Superseded by a newer version"),
}
