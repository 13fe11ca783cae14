"""Django's command, which also reads `ngettext_noop` of `engagements.text.nested_sentences`, and
leaves a new sentence without a translation rather than with that of a similar one."""

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    xgettext_options = [*makemessages.Command.xgettext_options, "--keyword=ngettext_noop:1,2"]
    msgmerge_options = [*makemessages.Command.msgmerge_options, "--no-fuzzy-matching"]
