"""Failures of a runtime: the lines that begin with `desk runtime:`, as `workers.runtimes` prints
them before a command begins."""

from django.utils.translation import gettext_noop

from toolreaders.causes.cause import ENVIRONMENT, Cause, line_cause

DESK = "D"  # this product's own check


def _cause(code: str, pattern: str, headline: str, remedy: str) -> Cause:
    return line_cause(f"runtime_{code}", rf"^desk runtime: {pattern}$", headline, remedy, DESK,
                      ENVIRONMENT)


RUNTIME_CAUSES = (
    _cause("script_missing", r"script-missing (?P<path>.+)",
           gettext_noop("The set-up script %(path)s is missing; the command did not begin."),
           gettext_noop("Put the script there, or correct its path in the job's runtime; for a "
                        "container the path inside counts.")),
    _cause("script_unreadable", r"script-unreadable (?P<path>.+)",
           gettext_noop("The set-up script %(path)s cannot be read; the command did not begin."),
           gettext_noop("Let the user of the job read it.")),
    _cause("script_failed", r"script-(?:failed|ended) (?P<status>\d+) (?P<path>.+)",
           gettext_noop("The set-up script %(path)s failed with status %(status)s; the command "
                        "did not begin."),
           gettext_noop("Source it by hand as the user of the job; what it printed stands above "
                        "that line of the log.")),
    _cause("conda_missing", r"conda-missing (?P<path>.+)",
           gettext_noop("There is no conda in %(path)s; the command did not begin."),
           gettext_noop("Correct the folder of the conda installation in the runtime.")),
    _cause("conda_missing", r"conda-missing",
           gettext_noop("No conda was found in the usual folders; the command did not begin."),
           gettext_noop("Name the folder of the conda installation in the runtime.")),
    _cause("conda_failed", r"conda-failed (?P<name>.+)",
           gettext_noop("The conda environment %(name)s cannot be activated; the command did not "
                        "begin."),
           gettext_noop("Compare the name with `conda env list` of the user of the job.")),
    _cause("modules_missing", r"modules-missing (?P<path>.+)",
           gettext_noop("The modules' start file %(path)s does not exist; the job's command did "
                        "not begin."),
           gettext_noop("Correct the path of the modules' start file in the runtime.")),
    _cause("modules_missing", r"modules-missing",
           gettext_noop("The command `module` was not found in the usual places; the job's command "
                        "did not begin."),
           gettext_noop("Name the modules' start file in the runtime, such as "
                        "/usr/share/modules/init/sh.")),
    _cause("module_failed", r"module-failed (?P<name>.+)",
           gettext_noop("The module %(name)s cannot be loaded; the command did not begin."),
           gettext_noop("Compare the name with `module avail`.")),
    _cause("engine_missing", r"engine-missing",
           gettext_noop("The node has neither docker nor podman nor nerdctl; the container was "
                        "not started."),
           gettext_noop("Install one of them for the user of the job, or name the engine at the "
                        "node.")),
    _cause("engine_silent", r"engine-silent (?P<which>.+)",
           gettext_noop("The container engine does not answer (%(which)s); the container was not "
                        "started."),
           gettext_noop("Try `version` of it as the user of the job: its service may be down, or "
                        "the user may lack the group docker.")),
    _cause("engine_failed", r"engine-failed\s*",
           gettext_noop("The container engine refuses without saying why; the command did not "
                        "begin."),
           gettext_noop("Try the same as the user of the job on the node.")),
    _cause("engine_failed", r"engine-failed (?P<why>.*\S) *",
           gettext_noop("The container engine refuses (%(why)s); the command did not begin."),
           gettext_noop("Try the same as the user of the job on the node.")),
    _cause("container_refused", r"container-refused (?P<status>\d+)",
           gettext_noop("The engine did not start the container (status %(status)s); the command "
                        "did not begin."),
           gettext_noop("The lines above it in the log are the engine's: image, mount, user or "
                        "option. An image has to be on the node, or its registry reachable.")),
    _cause("container_stopped", r"container-stopped (?P<name>.+)",
           gettext_noop("The container %(name)s does not run on the node; the command did not "
                        "begin."),
           gettext_noop("Start it, or correct its name in the job's runtime.")),
    _cause("mount_missing", r"mount-missing (?P<name>\S+) (?P<path>.+)",
           gettext_noop("The container %(name)s does not see the job's folder %(path)s; the "
                        "command did not begin."),
           gettext_noop("Start the container with a mount that holds the node's scratch folder, "
                        "or move the scratch folder below one that it has.")),
    _cause("exec_failed", r"exec-failed (?P<status>\d+)",
           gettext_noop("The engine did not run anything in the container (status %(status)s)."),
           gettext_noop("The lines above it in the log are the engine's. The container needs sh; "
                        "the user inside must be able to write the job's folder.")),
    _cause("inside_failed", r"inside-failed (?P<status>\d+)",
           gettext_noop("The container ended with status %(status)s before the command began."),
           gettext_noop("The lines above it in the log are the container's. Often the image's "
                        "user cannot write the job's folder: name it as the user inside, so that "
                        "the folder is opened to it, or take root.")),
    _cause("container_vanished", r"container-vanished (?P<name>.+)",
           gettext_noop("The container %(name)s is gone, and with it the proof of how its command "
                        "ended."),
           gettext_noop("Somebody removed it on the node while it ran; run the job again.")),
    _cause("device_missing", r"device-missing (?P<path>.+)",
           gettext_noop("The device %(path)s of a leased card is missing on the node; the "
                        "container was not started."),
           gettext_noop("Look at `npu-smi info` and the driver; or say in the runtime that the "
                        "cards are passed on in another way.")),
    _cause("card_missing", r"card-missing (?P<card>\d+)",
           gettext_noop("The container has no device of card %(card)s, which the job has leased; "
                        "the command did not begin."),
           gettext_noop("Start the container with that device, or choose another container or "
                        "another node for the job.")),
    _cause("folder_missing", r"folder-missing (?P<path>.+)",
           gettext_noop("The working folder %(path)s cannot be entered; the command did not "
                        "begin."),
           gettext_noop("Make the folder, or correct its path in the runtime.")),
)
