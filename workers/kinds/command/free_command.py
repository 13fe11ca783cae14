"""A command or a script that somebody typed in, judged only by what he named as its success."""

from fnmatch import fnmatch
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput, NotAllowed
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, register
from workers.kinds.example_runs import GoodRun, PracticeRun
from workers.kinds.judgement import FURTHER_LOGS, INPUTS, LOG_NAME
from workers.kinds.node_scripts import script as script_text
from workers.kinds.parameters import Parameter, as_words
from workers.kinds.training.project_script import LOGS

INTERPRETERS = {"bash": "bash", "sh": "sh", "python3": "Python 3"}
ENDINGS = {"bash": "sh", "sh": "sh", "python3": "py"}
# "$0" is the text: the script lies in the work folder, so that its own messages name it.
WITH_SCRIPT = 'printf "%s" "$0" > "$2" || exit 1; exec "$@"'
# Where the node has no Python, nothing watches for devices, and the command runs all the same.
WATCHED = 'if command -v python3 >/dev/null 2>&1; then exec python3 -c "$0" "$@"; fi; exec "$@"'
LONGEST_QUOTE = 120

PARAMETERS = (
    Parameter("words", _("Command line"), "words", is_required=False, is_always_shown=True, help=_(
        "Such as python -m package, deepspeed, accelerate launch or bash. No shell reads it: | > "
        "&& and $NAME stay as they are. Beside a script: the script's arguments.")),
    Parameter("script", _("Script"), "script", is_required=False, is_always_shown=True, help=_(
        "Instead of a command, or run with it as arguments; kept among the job's files.")),
    Parameter("interpreter", _("Script is run by"), "choice", default="bash",
              choices=tuple(INTERPRETERS), names=INTERPRETERS),
    Parameter("cards", _("Cards"), "integer", default=0, minimum=0, maximum=16,
              help=_("The command sees these only, numbered from 0.")),
    Parameter("collect", _("Files to collect"), "words", is_required=False, help=_(
        "Patterns below the job's folder, such as result/*.json; each file is read by its "
        "content.")),
    LOGS,
    Parameter("status", _("Exit status of a success"), "integer", default=0, minimum=0,
              maximum=255),
    Parameter("pattern", _("Line that the log must hold"), is_required=False, help=_(
        "Part of a line; * stands for anything.")),
    Parameter("file", _("File that must exist"), is_required=False, help=_(
        "Pattern below the job's folder; it is collected, too.")),
    Parameter("needs_device", _("A success needs proof that an NPU was used"), "flag"),
    Parameter("hours", _("Time limit"), "number", default=24, minimum=0.01, maximum=720,
              unit="h"),
)


@register
class FreeCommand(JobKind):
    code = "run.command"
    title = _("Free command")
    description = _("Runs a command or a script that no other kind covers. Allowed on nodes that "
                    "name the roles that may.")
    success = _("What is entered for it: the exit status, a line of the log, a file. Nothing else "
                "is looked at.")
    stages = tuple(Stage)
    timeout_seconds = 24 * 3600
    usual_seconds = 600
    needs_model = False
    shows_progress = spans_nodes = True
    may_log_errors = True  # they are quoted; the rule that was entered decides
    parameters: ClassVar = PARAMETERS
    good_run = GoodRun(parameters={"pattern": "epochs finished", "file": "result/*.json"},
                       files=("result/*.json",), reads_content=False)
    practice_runs = (PracticeRun({"words": ["python3", "-m", "json.tool", "--help"],
                                  "pattern": "usage*json"}, {"n": 0}),)

    def clean(self, values):
        cleaned = super().clean(values)
        if not cleaned["words"] and not (cleaned["script"] or "").strip():
            raise InvalidInput(gettext("Enter a command line or a script."))
        return cleaned

    def example_parameters(self):
        return {**super().example_parameters(), "words": ["python3", "-m", "package"]}

    def require_permitted(self, parameters, actor, node):
        if actor.role not in node.command_roles:
            raise NotAllowed(gettext(
                "On the node %(node)s your role (%(role)s) may not run free commands. An operator "
                "can allow it in the node's settings.")
                % {"node": node.name, "role": actor.get_role_display()})

    def argv(self, parameters):
        command = list(parameters["words"] or [])
        if text := parameters["script"]:
            name = script_name(parameters)
            command = ["sh", "-c", WITH_SCRIPT, text, parameters["interpreter"], f"./{name}",
                       *command]
        if not parameters["cards"]:
            return command
        return ["sh", "-c", WATCHED, script_text("device_use"), *command]

    def argv_on(self, parameters, meeting):
        return self.argv(parameters)

    def environment(self, parameters):
        return {"PYTHONUNBUFFERED": "1"}

    def time_limit(self, parameters):
        return int(parameters["hours"] * 3600)

    def globs(self, parameters):
        return (*(parameters["collect"] or ()), *filter(None, [parameters["file"]]))

    def log_globs(self, parameters):
        return tuple(as_words(parameters.get("logs")))

    def stored_files(self, parameters):
        text = parameters["script"]
        return {script_name(parameters): text.encode()} if text else {}

    def statuses_for(self, parameters):
        return (parameters["status"],)

    def device_claim(self, parameters):
        return parameters["needs_device"]

    def figures_need_device(self, parameters):
        return True

    def conclude(self, finished: Finished) -> Judgement:
        p = finished.parameters
        own = {LOG_NAME, *self.stored_files(p)}
        files = [name for name in finished.files
                 if name not in own and not name.startswith((INPUTS, FURTHER_LOGS))]
        found = [name for name in files if p["file"] and fnmatch(name, p["file"])]
        line = matching_line(finished.log, p["pattern"]) if p["pattern"] else ""
        facts = {"status": finished.exit_status, "pattern": p["pattern"] or "", "line": line,
                 "file": p["file"] or "", "first": found[0] if found else "",
                 "n": len(found), "files": len(files),
                 "read": sum(name in finished.readings for name in files)}
        if finished.exit_status != p["status"]:
            return Judgement(False, gettext_noop(
                "The command ended with status %(status)s; %(wanted)s was named as success."),
                {**facts, "wanted": p["status"]}, facts)
        if p["pattern"] and not line:
            return Judgement(False, gettext_noop(
                "Status %(status)s, but the last 3 MB of the log hold no line with "
                "“%(pattern)s”."), facts, facts)
        if p["file"] and not found:
            return Judgement(False, gettext_noop(
                "Status %(status)s, but no file “%(file)s” was left."), facts, facts)
        return Judgement(True, SUCCESSES[bool(line), bool(found)], facts, facts)


SUCCESSES = {  # (a line was asked for, a file was)
    (False, False): ngettext_noop(
        "The command ended with status %(status)s. Nothing else was named as success; collected: "
        "%(files)d file, %(read)d of a known format.",
        "The command ended with status %(status)s. Nothing else was named as success; "
        "collected: %(files)d files, %(read)d of a known format.", "files"),
    (True, False): ngettext_noop(
        "The command ended with status %(status)s, and the log holds “%(line)s”. Nothing else "
        "was looked at; collected: %(files)d file, %(read)d of a known format.",
        "The command ended with status %(status)s, and the log holds “%(line)s”. Nothing "
        "else was looked at; collected: %(files)d files, %(read)d of a known format.", "files"),
    (False, True): ngettext_noop(
        "The command ended with status %(status)s and left “%(first)s” (%(n)d files “%(file)s”). "
        "Whether they are right was not looked at; collected: %(files)d file, %(read)d of a "
        "known format.",
        "The command ended with status %(status)s and left “%(first)s” (%(n)d files "
        "“%(file)s”). Whether they are right was not looked at; collected: %(files)d "
        "files, %(read)d of a known format.", "files"),
    (True, True): ngettext_noop(
        "The command ended with status %(status)s, the log holds “%(line)s”, and it left "
        "“%(first)s” (%(n)d files “%(file)s”). Whether they are right was not looked at; "
        "collected: %(files)d file, %(read)d of a known format.",
        "The command ended with status %(status)s, the log holds “%(line)s”, and it left "
        "“%(first)s” (%(n)d files “%(file)s”). Whether they are right was not looked at; "
        "collected: %(files)d files, %(read)d of a known format.", "files"),
}


def script_name(parameters: dict) -> str:
    """The name of the script among the job's files."""
    return f"script.{ENDINGS[parameters['interpreter']]}"


def matching_line(log: str, pattern: str) -> str:
    """The last line that holds the pattern's parts in their order, cut; empty if none does.

    Linear in the log: no regular expression, which a careless pattern could make endless.
    """
    parts = [part for part in pattern.split("*") if part]
    for line in reversed(log.splitlines()):
        if _holds(line, parts):
            return line.strip()[:LONGEST_QUOTE]
    return ""


def _holds(line: str, parts: list[str]) -> bool:
    position = 0
    for part in parts:
        found = line.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    return bool(parts)
