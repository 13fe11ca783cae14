"""An empty database made ready for work: the first administrator and the standard data."""

import getpass
import os
import secrets
import sys
from pathlib import Path

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
        parser.add_argument("--mail", default="", help="e-mail address")
        parser.add_argument("--password-file", type=Path, help=(
            f"file whose first line is the password; else {VARIABLE}, else it is asked for, or, "
            "without a terminal, made and printed once"))

    def handle(self, *args, username, name, mail, password_file, **options):
        person = User.objects.filter(username=username).first()
        password = "" if person else self._password(password_file)
        with transaction.atomic():
            person = person or self._first(username, password, name, mail)
            load_standard_definitions()
            load_standard_questionnaire()
            load_rate_cards(actor=person)
        self.stdout.write(f"Ready. {person.username} signs in and adds people under “People”.")

    def _first(self, username: str, password: str, name: str, mail: str) -> User:
        person = User.objects.create_superuser(
            username, email=mail, password=password, full_name=name, role=Role.ADMINISTRATOR)
        audit_log.record(actor=person, action="person.add", target=person)
        return person

    def _password(self, file: Path | None) -> str:
        if file:
            try:
                password = file.read_text(encoding="utf-8").partition("\n")[0].strip()
            except OSError as error:
                raise CommandError(f"{file}: {error.strerror}. Nothing was created.") from error
            if not password:
                raise CommandError(f"{file} is empty. Nothing was created.")
            return password
        if given := os.environ.get(VARIABLE):
            return given
        if sys.stdin.isatty():
            return self._asked()
        made = secrets.token_urlsafe(15)
        self.stdout.write(f"Password, shown once: {made}\nChange it after the first log-in.")
        return made

    def _asked(self) -> str:
        first, again = (getpass.getpass(words) for words in ("Password: ", "Again: "))
        if not first or first != again:
            raise CommandError("The two passwords differ, or are empty. Nothing was created.")
        return first
