"""The condition of nodes, with its reasons: pages, API, figures and alarms read it here."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Prefetch, prefetch_related_objects
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext as _

from engagements.text.text_joining import following, labelled
from workers.models import Card, CardAlarm, Node, NodeReservation, Trouble
from workers.nodes.certificates import facts_of

TROUBLES = {
    Trouble.LOGIN: gettext_noop(
        "For %(since)s the node has refused the log-in of %(user)s. Jobs there go on by "
        "themselves; their state is unknown until the log-in works: check user and key."),
    Trouble.QUEUE: gettext_noop(
        "For %(since)s the cluster's scheduler has not answered. Jobs that run go on by "
        "themselves; their state is unknown until it answers."),
    Trouble.SHELL: gettext_noop(
        "For %(since)s the node has let us in without running our commands. Look at the "
        "start-up files of %(user)s, such as .bashrc; jobs there go on by themselves."),
    Trouble.ALGORITHM: gettext_noop(
        "For %(since)s the node's SSH server has had no algorithm in common with us. Look at "
        "Ciphers, KexAlgorithms and HostKeyAlgorithms in its sshd_config; jobs there go on by "
        "themselves."),
    Trouble.CHANNEL: gettext_noop(
        "For %(since)s the node has let us in without opening a session. Look at MaxSessions in "
        "its sshd_config; jobs there go on by themselves."),
    Trouble.TIMEOUT: gettext_noop(
        "For %(since)s commands on the node have not ended in time. Look at its load and at its "
        "file systems; jobs there go on by themselves."),
    Trouble.AWAY: gettext_noop(
        "The node has not answered for %(since)s. Jobs there go on by themselves; their state is "
        "unknown until it answers, and their cards stay leased."),
}
SLOW_SHELL = 1.0  # seconds; every start, poll and transfer waits for it
DISK_SOON = timedelta(days=7)
CERTIFICATE_SOON = timedelta(days=14)
COMPARED = {"driver": gettext_noop("Driver"), "firmware": gettext_noop("Firmware"),
            "cann": "CANN", "torch": "PyTorch", "torch_npu": "torch_npu",
            "mindspore": "MindSpore"}  # versions that are alike on nodes with the same chip
LEVELS = ("danger", "warning", "info", "ok")  # worst first
TAGS = {"danger": "red", "warning": "warning", "info": "running", "ok": "ok"}  # their colours
STATES = {
    Node.State.QUARANTINED: ("danger", gettext_noop(
        "It shows another host key than the pinned one: no job starts here.")),
    Node.State.PENDING: ("warning", gettext_noop(
        "Its host key is to be confirmed; until then no job starts here.")),
    Node.State.UNTRIED: ("warning", gettext_noop(
        "Not tried yet: no job starts here until “Try the log-in” has passed.")),
    Node.State.MAINTENANCE: ("info", gettext_noop(
        "In maintenance: jobs that run go on, none starts; what is queued waits here until the "
        "maintenance ends.")),
    Node.State.RETIRED: ("info", gettext_noop(
        "Retired: no job starts here; what ran here stays to be read.")),
}


@dataclass(frozen=True)
class Reason:
    """Something that an operator should know about a node. A remark has no word of its own."""

    level: str
    word: str
    sentence: str
    blocks: bool = False  # no job starts for it
    card: int | None = None
    kind: str = ""  # of the alarm of the node that it raises
    value: str = ""  # as that alarm shows it


@dataclass
class Condition:
    """What is the matter with a node, worst first."""

    reasons: list[Reason] = field(default_factory=list)
    differing: dict[str, str] = field(default_factory=dict)  # what nodes with its chip have

    @property
    def worst(self) -> Reason:
        """The reason that the lists name; no node is ready over one."""
        return next((each for each in self.reasons if each.word),
                    Reason("ok", str(Node.State.READY.label), ""))

    @property
    def level(self) -> str:
        return self.worst.level

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return LEVELS.index(self.level)

    @property
    def tag(self) -> str:
        return TAGS[self.level]

    @property
    def obstacle(self) -> Reason | None:
        """Why no job starts on it, if none does."""
        return next((each for each in self.reasons if each.blocks), None)

    def of_card(self, index: int) -> list[Reason]:
        return [each for each in self.reasons if each.card == index]


def conditions_of(nodes: Iterable[Node], now: datetime) -> dict[int, Condition]:
    """By node; asks as often for many as for one. Their cards are prefetched then."""
    nodes = list(nodes)
    prefetch_related_objects(
        nodes, "cards",
        Prefetch("card_alarms", CardAlarm.objects.filter(cleared_at=None).order_by(
            "card_index"), to_attr="open_alarms"),
        Prefetch("reservations", NodeReservation.objects.filter(
            engagement=None, starts_at__lte=now, ends_at__gt=now), to_attr="windows"))
    twins, usual = _by_host_key(), _usual_versions()
    found = {}
    for node in nodes:
        chip = next((card.chip_name for card in node.cards.all()), "")
        differing = {code: version for code, version in usual.get(chip, {}).items()
                     if node.software.get(code, version) != version}
        reasons = [*_of_state(node, now), *_of_cards(node, now),
                   *_of_machine(node, twins, now),
                   *_of_way(node, now), *_of_readings(node), *_of_versions(node, differing)]
        reasons = [_as_said(each, node, now) for each in reasons]
        found[node.pk] = Condition(
            sorted(reasons, key=lambda each: LEVELS.index(each.level)), differing)
    return found


def condition_of(node: Node, now: datetime) -> Condition:
    return conditions_of([node], now)[node.pk]


def _of_state(node: Node, now: datetime) -> Iterator[Reason]:
    if node.state in STATES:
        level, sentence = STATES[node.state]
        yield Reason(level, str(Node.State(node.state).label), gettext(sentence), blocks=True)
    yield from _of_endless_maintenance(node, now)
    if node.unreachable_since and node.trouble != Trouble.KEY:
        word = str(Trouble(node.trouble or Trouble.AWAY).label)
        sentence = gettext(TROUBLES.get(node.trouble, TROUBLES[Trouble.AWAY])) % {
            "since": timesince(node.unreachable_since, now), "user": node.username}
        yield Reason("danger", word, sentence, blocks=True, kind=CardAlarm.Kind.AWAY, value=word)
    for window in node.windows:
        yield Reason("info", str(Node.State.MAINTENANCE.label), following(_(
            "Maintenance until %(end)s: %(reason)s.") % {
                "end": f"{timezone.localtime(window.ends_at):%Y-%m-%d %H:%M}",
                "reason": window.reason}, window.fate_of_jobs), blocks=True)


def _of_endless_maintenance(node: Node, now: datetime) -> Iterator[Reason]:
    since = node.maintenance_since if node.state == Node.State.MAINTENANCE else None
    if since and now - since > timedelta(hours=settings.MAINTENANCE_HOURS):
        day = f"{timezone.localtime(since):%Y-%m-%d %H:%M}"
        yield Reason("warning", str(CardAlarm.Kind.NO_END.label), _(
            "In maintenance since %(since)s, and no end was given: take the node back, or retire "
            "it.") % {"since": day}, kind=CardAlarm.Kind.NO_END, value=day)


def _level_said(alarm: CardAlarm, now: datetime, level: str = "danger") -> str:
    """How loud an alarm is, after what operators said of it."""
    if alarm.silenced_until and alarm.silenced_until > now:
        return "info"
    return "warning" if alarm.acknowledged_by_id and level == "danger" else level


def _as_said(reason: Reason, node: Node, now: datetime) -> Reason:
    """A reason whose alarm was acknowledged or silenced is as loud as that."""
    alarm = next((each for each in node.open_alarms
                  if each.card_index is None and each.kind == reason.kind), None)
    return replace(reason, level=_level_said(alarm, now, reason.level)) if alarm else reason


def _of_cards(node: Node, now: datetime) -> Iterator[Reason]:
    for alarm in node.open_alarms:
        if alarm.card_index is not None:
            yield _of_card(alarm.card_index, alarm.get_kind_display(), alarm.value,
                           _level_said(alarm, now))
    told = {(alarm.card_index, alarm.kind) for alarm in node.open_alarms}
    for card in node.cards.all():
        if not card.is_healthy and (card.index, CardAlarm.Kind.HEALTH) not in told:
            yield _of_card(card.index, CardAlarm.Kind.HEALTH.label, card.health)


def _of_card(index: int, kind, value: str, level: str = "danger") -> Reason:
    what = labelled(str(kind), value)
    return Reason(level, _("Card %(n)d: %(what)s") % {"n": index, "what": what}, _(
        "Card %(n)d is in alarm (%(what)s); no job is given it.") % {"n": index, "what": what},
        card=index)


def _of_machine(node: Node, twins: dict[str, list[tuple[int, str]]], now: datetime
                ) -> Iterator[Reason]:
    other = next((name for pk, name in twins.get(_key_of(node.host_key), ())
                  if pk != node.pk), None)
    if other:
        yield Reason("danger", _("Enrolled twice"), _(
            "The node %(name)s shows the same host key: if both are one machine, its cards are "
            "leased twice. Keep one of them in maintenance.") % {"name": other})
    yield from _of_disk(node, now)
    if abs(node.clock_offset_seconds or 0) > settings.NODE_CLOCK_LIMIT:
        yield Reason("warning", _("Clock differs"), _(
            "The node's clock differs from ours by %(n)d s: look at its time service (chronyd, "
            "ntpd).") % {"n": node.clock_offset_seconds},
            kind=CardAlarm.Kind.CLOCK, value=f"{node.clock_offset_seconds} s")


def _of_disk(node: Node, now: datetime) -> Iterator[Reason]:
    warning, stop = node.disk_limits
    if node.scratch_free_mb is not None and node.scratch_free_mb < warning:
        yield Reason("danger" if node.is_full else "warning", _("Disk full") if node.is_full else
                     _("Little disk space"), _(
            "The scratch folder has %(free)d MB free; below %(least)d MB no job starts. What jobs "
            "left there is removed %(days)d days after their end, or at once under “Disk”.") % {
                "free": node.scratch_free_mb, "least": stop, "days": node.keep_days},
            blocks=node.is_full, kind=CardAlarm.Kind.DISK, value=f"{node.scratch_free_mb} MB")
    elif node.disk_full_at and node.disk_full_at < now + DISK_SOON:
        yield Reason("warning", _("Disk full soon"), full_in(node.disk_full_at, now),
                     kind=CardAlarm.Kind.DISK,
                     value=f"{timezone.localtime(node.disk_full_at):%Y-%m-%d}")


def full_in(at: datetime, now: datetime) -> str:
    """In how many days a disk is full."""
    days = max(0, round((at - now) / timedelta(days=1)))
    return ngettext("As in the last days, the disk is full in about %(n)d day.",
                    "As in the last days, the disk is full in about %(n)d days.", days) % {
                        "n": days}


def _of_way(node: Node, now: datetime) -> Iterator[Reason]:
    """What the log-in shows."""
    end = certificate_end(node)
    if end and end < now + CERTIFICATE_SOON:
        is_over = end <= now
        yield Reason("danger" if is_over else "warning", _("Certificate expired") if is_over else
                     _("Certificate expires"), _(
            "The certificate of the key is valid until %(end)s; a new one is entered under "
            "“Edit”.") % {"end": f"{timezone.localtime(end):%Y-%m-%d %H:%M}"})
    if node.sessions_at_once:
        yield Reason("info", "", ngettext(
            "Its SSH server lets only %(n)d session be open on a connection (MaxSessions); further "
            "ones get connections of their own.",
            "Its SSH server lets only %(n)d sessions be open on a connection (MaxSessions); "
            "further ones get connections of their own.", node.sessions_at_once)
            % {"n": node.sessions_at_once})
    if node.shell_seconds is not None and node.shell_seconds >= SLOW_SHELL:
        yield Reason("warning", _("Slow shell"), _(
            "The log-in shell of %(user)s takes %(seconds).1f s before it runs a command, and "
            "every step of a job waits for it. Look at what its start-up files do, such as "
            ".bashrc.") % {"user": node.username, "seconds": node.shell_seconds})


def certificate_end(node: Node) -> datetime | None:
    try:
        return facts_of(node.certificate).ends_at if node.certificate else None
    except ValueError:
        return None


def _of_readings(node: Node) -> Iterator[Reason]:
    if node.scheduler or node.has_read_cards:
        return
    if node.cards_total is None:
        yield Reason("warning", _("Cards not known"), _(
            "How many cards the node has is not known: npu-smi has shown none. “Read chips and "
            "host” reads them; or enter their number."))
    elif node.cards_total:
        yield Reason("warning", _("Cards not read"), _(
            "The number of cards (%(n)d) was typed in by hand; no reading of npu-smi has shown "
            "them. “Read chips and host” does.") % {"n": node.cards_total})


def _of_versions(node: Node, differing: dict[str, str]) -> Iterator[Reason]:
    for code, usual in differing.items():
        yield Reason("info", "", _("%(name)s %(version)s differs from other nodes with this chip: "
                                   "%(usual)s.") % {
            "name": gettext(COMPARED[code]), "version": node.software[code], "usual": usual},
            kind=CardAlarm.Kind.SOFTWARE,
            value=", ".join(f"{name} {node.software[name]}" for name in differing))


def _usual_versions() -> dict[str, dict[str, str]]:
    """What most nodes have, by chip and software; of two as frequent the newer."""
    counts: dict[str, dict[str, Counter[str]]] = {}
    for chip, software in Card.objects.filter(index=0).values_list("chip_name", "node__software"):
        for code in COMPARED.keys() & software.keys():
            counts.setdefault(chip, {}).setdefault(code, Counter())[software[code]] += 1
    return {chip: {code: max(found, key=lambda version: (found[version], str(version)))
                   for code, found in sorted(each.items())} for chip, each in counts.items()}


def _by_host_key() -> dict[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = {}
    for pk, name, *keys in Node.objects.exclude(state=Node.State.RETIRED).values_list(
            "pk", "name", "host_key", "offered_host_key"):
        for key in {_key_of(key) for key in keys} - {""}:
            found.setdefault(key, []).append((pk, name))
    return found


def _key_of(line: str) -> str:
    return " ".join(line.split()[:2])
