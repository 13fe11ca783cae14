"""Labels of the audit log."""

from django import template

from delivery.portal.audit.action_labels import action_label
from delivery.portal.audit.target_names import target_meaning

register = template.Library()
register.filter("action_label", action_label)
register.filter("target_meaning", target_meaning)
