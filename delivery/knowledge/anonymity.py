"""Texts that are read across engagements name no customer, engagement, person, host or folder."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address

from engagements.models import Customer, Engagement, Role, User
from workers.models import Node

LEAST_LATIN, LEAST_CHINESE = 3, 2  # characters of a name that is looked for
# Folders that every machine of this field has; all others say something about whose it is.
COMMON_FOLDERS = ("/bin/", "/dev/", "/etc/", "/lib/", "/lib64/", "/proc/", "/run/", "/sbin/",
                  "/sys/", "/usr/", "/var/log/", "/var/run/", "/root/ascend/", "~/ascend/")
PATH = re.compile(r"(?<![\w:/.<~-])(?:~/|/(?=\S))[\w.+@%=,~-]+(?:/[\w.+@%=,~*-]*)+|"
                  r"(?<!\w)[A-Za-z]:\\[^\s\"'<>|]+")
ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\d)|"
                     r"(?<![\w:])(?:[0-9a-fA-F]{1,4}:){4,7}[0-9a-fA-F]{1,4}(?![\w:])")
MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# What a login shell or a program says about where it runs: user@host.
LOGIN = re.compile(r"(?<![\w.])[A-Za-z_][\w.-]*@[A-Za-z][\w.-]*\w")
# Driver and firmware versions have four numbers too (24.1.0.3, 7.3.0.1): told apart from addresses
# by their first number, as far as no private network begins with it.
LAST_MAJOR_VERSION = 29
OWN_HOSTS = ("localhost", "127.0.0.1", "0.0.0.0", "::1")
LEGAL_FORM = re.compile(
    r"(?:股份|有限|责任|集团|公司|\s|,|\.|\b(?:co|ltd|inc|corp|llc|gmbh|limited|company)\b)+$",
    re.IGNORECASE)


@dataclass(frozen=True)
class Names:
    """Names that must not leave: `whole` is found as a word, whatever its case."""

    whole: frozenset[str] = field(default_factory=frozenset)

    def found_in(self, text: str) -> Iterator[str]:
        """Those of them that the text holds."""
        folded = text.casefold()
        for name in self.whole:
            if name in folded and (found := _word(name).search(text)):
                yield found[0]

    def replaced(self, text: str, by: str) -> str:
        folded = text.casefold()
        for name in sorted(self.whole, key=len, reverse=True):
            if name in folded:
                text = _word(name).sub(lambda _match: by, text)
        return text


def _word(name: str) -> re.Pattern[str]:
    """The name; Latin letters and digits at its ends belong to it alone."""
    before = r"(?<![A-Za-z0-9])" if name[0].isascii() else ""
    after = r"(?![A-Za-z0-9])" if name[-1].isascii() else ""
    return re.compile(f"{before}{re.escape(name)}{after}", re.IGNORECASE)


def names_known(engagements: Iterable[Engagement]) -> Names:
    """All customers, engagements' codes and nodes of the desk, and of these engagements also
    names, contracts and people.

    Names of other engagements' people may be ordinary words; their customers' are not.
    """
    found = set(_customers())
    found |= set(Engagement.objects.order_by().values_list("code", flat=True))
    for node in Node.objects.order_by().values_list("name", "host"):
        found |= set(node)
    for engagement in engagements:
        found |= {engagement.name, engagement.name_en, engagement.contract_number,
                  engagement.customer.contact_name, engagement.customer.contact_name_en,
                  engagement.customer.contact_email}
        found |= set(_people(engagement))
    return Names(frozenset(name.strip().casefold() for name in found if _is_name(name)))


def _customers() -> Iterator[str]:
    """Their registered names, also without the legal form."""
    for names in Customer.objects.order_by().values_list("name", "name_en"):
        for name in names:
            yield name
            stem = LEGAL_FORM.sub("", name)
            if len(stem) >= 2 * LEAST_CHINESE:
                yield stem


def _people(engagement: Engagement) -> Iterator[str]:
    people = User.objects.filter(memberships__engagement=engagement)
    for names in people.values_list("full_name", "full_name_en", "username", "email"):
        yield from names


def _is_name(name: str) -> bool:
    """Long enough to be looked for, and neither a role nor this machine."""
    name = name.strip()
    least = LEAST_LATIN if name.isascii() else LEAST_CHINESE
    known = {*Role.values, *(str(label).casefold() for label in Role.labels), *OWN_HOSTS, "root"}
    return len(name) >= least and name.casefold() not in known


def telling(text: str, names: Names) -> list[str]:
    """What a text says about whose it is: names, folders, addresses; each once, in order."""
    return list(dict.fromkeys([
        *names.found_in(text), *(match[0] for match in MAIL.finditer(text)),
        *(match[0] for match in LOGIN.finditer(text)),
        *(match[0] for match in PATH.finditer(text) if _is_own_folder(match[0])),
        *(match[0] for match in ADDRESS.finditer(text) if _is_address(match[0]))]))


def without_names(text: str, names: Names, by: str = "…") -> str:
    """The text with all of that replaced."""
    text = MAIL.sub(by, text)
    text = LOGIN.sub(by, text)
    text = PATH.sub(lambda match: by if _is_own_folder(match[0]) else match[0], text)
    text = ADDRESS.sub(lambda match: by if _is_address(match[0]) else match[0], text)
    return names.replaced(text, by)


def as_pattern(line: str, names: Names, longest: int = 400) -> str:
    """A line of a log as a pattern: what differs from run to run is `*`."""
    text = without_names(line, names, by="*")
    text = re.sub(r"0x[0-9a-fA-F]+|(?<![\w.])(?![125]\d7\d{3}\b)\d+(?:[.:,-]\d+)*(?![\w.]*\w)",
                  "*", text)
    return re.sub(r"\*[\s*]*\*", "*", " ".join(text.split()))[:longest]


def _is_own_folder(path: str) -> bool:
    return not f"{path}/".startswith(COMMON_FOLDERS)


def _is_address(text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified:
        return False
    return address.version == 6 or address.is_private or (
        int(text.split(".", maxsplit=1)[0]) > LAST_MAJOR_VERSION)
