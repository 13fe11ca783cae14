"""The list of people to invite: columns by name, and each fault with its row."""

import io
from collections import Counter
from dataclasses import dataclass
from typing import Any, BinaryIO

from django import forms
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override, pgettext

from engagements.errors import InvalidInput
from engagements.models import Role, User
from engagements.text.text_joining import labelled
from workers import uploaded_table
from workers.uploaded_table import Entry

MOST_PEOPLE = 200  # of one list
LANGUAGES = [code for code, _name in settings.LANGUAGES]
# Field: heading of the empty list, further names that a column may have.
COLUMNS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "full_name": (gettext_lazy("Full name"), ("name", "full name", "姓名", "名字")),
    "email": (gettext_lazy("E-mail address"), ("email", "e-mail", "mail", "电子邮箱", "电子邮件",
                                               "邮件", "邮箱")),
    "role": (gettext_lazy("Role"), ("role", "角色", "系统角色")),
    "username": (gettext_lazy("Log-in name"), ("username", "user", "login", "登录名", "账号",
                                               "用户名")),
    "organisation": (gettext_lazy("Organisation"), ("organisation", "organization", "company",
                                                    "单位", "公司", "组织")),
    "job_title": (gettext_lazy("Job title"), ("job title", "title", "职务", "岗位", "职位")),
    "phone": (gettext_lazy("Phone"), ("phone", "mobile", "电话", "手机", "联系电话")),
    "full_name_en": (gettext_lazy("Full name (English)"), (
        "english name", "name in english", "英文名", "英文姓名", "姓名拼音")),
    "job_title_en": (gettext_lazy("Job title (English)"), (
        "title (english)", "英文职务", "英文职位")),
    "organisation_en": (gettext_lazy("Organisation (English)"), (
        "company (english)", "单位英文名", "公司英文名", "英文单位")),
}


class InvitedPersonForm(forms.ModelForm):
    """One row; what is said of a field names its column."""

    class Meta:
        model = User
        fields = list(COLUMNS)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for name, (heading, _names) in COLUMNS.items():
            self.fields[name].label = heading
        self.fields["email"].required = self.fields["full_name"].required = True


@dataclass
class PersonRow:
    """One row: where it stands, the facts of a person, and what is wrong with them."""

    place: str
    facts: dict[str, str]
    faults: list[str]

    @property
    def role_label(self) -> str:
        """The role in the active language, or what the file says of it."""
        return dict(Role.choices).get(self.facts["role"], self.facts["role"])


def people_rows(upload: BinaryIO, name: str) -> list[PersonRow]:
    """Read an uploaded list of people, .xlsx or CSV; a row without a log-in name takes the part of
    the address before the @.

    Raises InvalidInput for a file that cannot be read, or that names nobody or too many.
    """
    data, is_workbook = uploaded_table.read_upload(upload)
    entries = (uploaded_table.entries_of_xlsx if is_workbook
               else uploaded_table.entries_of_csv)(data)
    if not entries:
        raise InvalidInput(_("“%(file)s” lists no people: it needs a row of column names and rows "
                             "below it.") % {"file": name})
    if len(entries) > MOST_PEOPLE:
        raise InvalidInput(_("“%(file)s” lists more than %(limit)d people; split it.")
                           % {"file": name, "limit": MOST_PEOPLE})
    return checked_rows([(entry.place, _facts(entry)) for entry in entries])


def checked_rows(rows: list[tuple[str, dict[str, str]]]) -> list[PersonRow]:
    """Each place and facts with what is wrong: by the fields, the accounts there are, and the
    other rows."""
    names = Counter(facts["username"].casefold() for _place, facts in rows)
    found = []
    for place, facts in rows:
        form = InvitedPersonForm(facts)
        faults = [labelled(form.fields[field].label, sentence)
                  for field, sentences in form.errors.items() for sentence in sentences]
        if facts["username"] and names[facts["username"].casefold()] > 1:
            faults.append(_("The log-in name “%(name)s” appears in several rows.")
                          % {"name": facts["username"]})
        found.append(PersonRow(place, facts, faults))
    return found


def _facts(entry: Entry) -> dict[str, str]:
    cells = {name.strip().casefold(): text for name, text in entry.values.items()}
    facts = {field: next((cells[name] for name in _names(field) if name in cells), "")
             for field in COLUMNS}
    facts["role"] = _role(facts["role"])
    facts["username"] = facts["username"] or facts["email"].partition("@")[0]
    return facts


def _names(field: str) -> list[str]:
    """What a column of the field may be called: by the empty list of either language, or else."""
    heading, names = COLUMNS[field]
    headings = []
    for language in LANGUAGES:
        with override(language):
            headings.append(str(heading))
    return [name.casefold() for name in (field, *headings, *names)]


def _role(text: str) -> str:
    """The role's code by its code or by its name in either language; the text itself if none."""
    for language in LANGUAGES:
        with override(language):
            for code, label in Role.choices:
                if text.casefold() in (code, str(label).casefold()):
                    return code
    return text


def empty_list() -> bytes:
    """An .xlsx with the headings and the roles to choose from, in the active language."""
    from openpyxl import Workbook  # slow to import: not at start
    from openpyxl.worksheet.datavalidation import DataValidation

    book = Workbook()
    sheet = book.active
    sheet.title = pgettext("of a team", "People")
    sheet.append([str(heading) for heading, _names in COLUMNS.values()])
    labels = ",".join(str(label) for _code, label in Role.choices)
    roles = DataValidation(type="list", formula1=f'"{labels}"', allow_blank=False)
    column = sheet.cell(1, 1 + list(COLUMNS).index("role")).column_letter
    roles.add(f"{column}2:{column}{MOST_PEOPLE + 1}")
    sheet.add_data_validation(roles)
    for place in range(1, len(COLUMNS) + 1):
        sheet.column_dimensions[sheet.cell(1, place).column_letter].width = 22
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
