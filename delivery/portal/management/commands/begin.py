"""An empty database made ready for work: the first administrator and the standard data."""

import getpass
import os

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from assessments.services import load_standard_definitions
from delivery.quotes.services import load_rate_cards
from delivery.surveys.services.publishing import load_standard_questionnaire
from engagements.audit import audit_log
from engagements.models import Role, User

VARIABLE = "DESK_ADMIN_PASSWORD"


class Command(BaseCommand):
    help = ("Creates the first administrator and loads metric definitions, questionnaire and "
            "price list. Safe to repeat: what exists stays as it is.")

    def add_arguments(self, parser):
        parser.add_argument("username", help="log-in name of the administrator")
        parser.add_argument("--name", default="", help="full name")

    def handle(self, *args, username, name, **options):
        person = User.objects.filter(username=username).first()
        password = "" if person else os.environ.get(VARIABLE) or self._asked()
        with transaction.atomic():
            person = person or self._first(username, password, name)
            load_standard_definitions()
            load_standard_questionnaire()
            load_rate_cards(actor=person)
        self.stdout.write(f"Ready. {person.username} signs in and adds people under “People”.")

    def _first(self, username: str, password: str, name: str) -> User:
        person = User.objects.create_superuser(
            username, password=password, full_name=name, role=Role.ADMINISTRATOR)
        audit_log.record(actor=person, action="person.add", target=person)
        return person

    def _asked(self) -> str:
        first, again = (getpass.getpass(words) for words in ("Password: ", "Again: "))
        if not first or first != again:
            raise CommandError("The two passwords differ, or are empty. Nothing was created.")
        return first
