"""What a job left on its node, running or unread, in sentences for people."""

from django.utils.translation import gettext as _

MOST_NAMED = 5


def left_behind(results: dict) -> list[str]:
    """Sentences on the processes that outlived the command: there, ended, or on its cards."""
    found = []
    still = results.get("still_running", [])
    if still:
        found.append(_("%(n)d processes that the command left behind survive SIGKILL: %(which)s. "
                       "An administrator has to end them on the node.")
                     % {"n": len(still), "which": _named(still)})
    ended = [each for each in results.get("left_behind", []) if each not in still]
    if ended:
        found.append(_("The command left %(n)d processes behind when it ended; they were ended: "
                       "%(which)s.") % {"n": len(ended), "which": _named(ended)})
    if on_cards := results.get("on_cards"):
        found.append(_("After the command had ended npu-smi still showed %(n)d processes on its "
                       "cards: %(which)s.") % {"n": len(on_cards), "which": _named(on_cards)})
    return found


def not_collected(results: dict) -> str:
    """The files that could not be read on the node, with owner and mode; empty if all could."""
    if not (found := results.get("not_collected")):
        return ""
    named = "; ".join(f"{name} ({owner} {mode}): {why}"
                      for name, owner, mode, why in found["files"][:MOST_NAMED])
    return _("%(n)d files could not be read on the node and are not stored: %(which)s. The list "
             "is in not-collected.txt. If they are needed, have their owner or an administrator "
             "let the log-in user read them, and run the job again.") % {
                 "n": found["n"], "which": named}


def _named(processes: list) -> str:
    return ", ".join(f"{number} ({name})" for number, name in processes)
