"""Django's command, which also reads `ngettext_noop` of `engagements.text.nested_sentences`."""

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    xgettext_options = [*makemessages.Command.xgettext_options, "--keyword=ngettext_noop:1,2"]
