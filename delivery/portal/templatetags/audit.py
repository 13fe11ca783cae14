"""The words of the audit log."""

from django import template

from delivery.portal.audit_words import action_words

register = template.Library()
register.filter("action_words", action_words)
