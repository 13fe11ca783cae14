"""Labels of the audit log."""

from django import template

from delivery.portal.audit.action_labels import action_label

register = template.Library()
register.filter("action_label", action_label)
