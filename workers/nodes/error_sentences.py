"""Errors of `workers.nodes.ssh` as sentences for people: no more than what each shows."""

from django.utils.translation import gettext, gettext_noop

from workers.models import Node, NodeLogin
from workers.nodes import absence_causes, reachability, ssh

SENTENCES = {
    reachability.SchedulerAway: gettext_noop(
        "%(host)s lets %(user)s in, but the cluster's scheduler does not answer (%(why)s)."),
    ssh.LoginRefused: gettext_noop(
        "%(host)s refuses the log-in of %(user)s: check user and key (%(why)s)."),
    ssh.HostKeyChanged: gettext_noop(
        "%(host)s shows another host key than the pinned one; the node is in quarantine."),
    ssh.NoShell: gettext_noop(
        "%(host)s lets %(user)s in, but the log-in shell does not run our commands: look at the "
        "user's start-up files, such as .bashrc (%(why)s)."),
    ssh.NoAlgorithm: gettext_noop(
        "%(host)s answers, but its SSH server has no algorithm in common with us (%(why)s)."),
    ssh.NotBegun: gettext_noop(
        "%(host)s closes the connection before the log-in: too many log-ins are under way there "
        "(MaxStartups), or it does not want this address (%(why)s)."),
    ssh.JumpHostRefused: gettext_noop(
        "The jump host lets us in, but opens no connection to the node (%(why)s)."),
    ssh.ChannelRefused: gettext_noop(
        "%(host)s lets %(user)s in, but its SSH server opens no session: look at MaxSessions "
        "(%(why)s)."),
    ssh.CommandTimedOut: gettext_noop(
        "%(host)s lets %(user)s in, but a command did not end in time (%(why)s)."),
    ssh.ScriptFailed: gettext_noop(
        "%(host)s answers, but a script of the system failed on it (%(why)s)."),
    ssh.AnswerIncomplete: gettext_noop(
        "%(host)s answers, but a script of the system failed on it (%(why)s)."),
}
AWAY = gettext_noop("%(host)s:%(port)d does not answer over SSH (%(why)s).")


def sentence(access: Node | NodeLogin, error: Exception) -> str:
    """What went wrong at the node, in the active language."""
    why, known = str(error), SENTENCES.get(type(error))
    if not known and (cause := absence_causes.cause_of(why)):
        why = gettext(cause.sentence).rstrip(".。")
    return gettext(known or AWAY) % {
        "user": access.username, "host": access.host, "port": access.port, "why": why}
