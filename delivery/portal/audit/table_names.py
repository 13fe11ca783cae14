"""What tables are called on the page of the log, where their models carry no name of their own.

Django makes such a name of the class; it is translated here.
"""

from django.utils.translation import gettext, gettext_noop

WORDS = frozenset((
    gettext_noop("acceptance terms"), gettext_noop("accepted difference"),
    gettext_noop("added criterion"), gettext_noop("agreement"),
    gettext_noop("allowed difference"), gettext_noop("answer"),
    gettext_noop("answer revision"), gettext_noop("api route"), gettext_noop("approval step"),
    gettext_noop("approval turn"), gettext_noop("artifact"), gettext_noop("baseline"),
    gettext_noop("baseline run"), gettext_noop("branding version"), gettext_noop("calendar day"),
    gettext_noop("card lease"), gettext_noop("card quota"), gettext_noop("case evidence"),
    gettext_noop("chain run"), gettext_noop("chain step"), gettext_noop("change proposal"),
    gettext_noop("change request"), gettext_noop("change request file"), gettext_noop("channel"),
    gettext_noop("checklist item"), gettext_noop("comment"), gettext_noop("company profile"),
    gettext_noop("condition"), gettext_noop("confirmation"), gettext_noop("consequence"),
    gettext_noop("criteria set"), gettext_noop("criterion"), gettext_noop("criterion effect"),
    gettext_noop("currency"), gettext_noop("customer"), gettext_noop("damaged file"),
    gettext_noop("decision"), gettext_noop("deliverable"), gettext_noop("dependency"),
    gettext_noop("discount limit"), gettext_noop("document"), gettext_noop("document file"),
    gettext_noop("document step"), gettext_noop("duty setting"), gettext_noop("effort driver"),
    gettext_noop("effort estimate"), gettext_noop("effort line"), gettext_noop("engagement"),
    gettext_noop("evidence bundle"), gettext_noop("gang"), gettext_noop("grade cost"),
    gettext_noop("human evaluation"), gettext_noop("human rating"), gettext_noop("identification"),
    gettext_noop("absence"), gettext_noop("margin floor"), gettext_noop("skill"),
    gettext_noop("framework contract"), gettext_noop("invoice"), gettext_noop("payment"),
    gettext_noop("quote answer"),
    gettext_noop("job"), gettext_noop("job chain"), gettext_noop("job input"),
    gettext_noop("job template"), gettext_noop("mail setting"), gettext_noop("measurement"),
    gettext_noop("meeting"), gettext_noop("meeting file"), gettext_noop("membership"),
    gettext_noop("metric definition"), gettext_noop("migrated model"), gettext_noop("milestone"),
    gettext_noop("model decision"), gettext_noop("node"), gettext_noop("node import"),
    gettext_noop("node login"), gettext_noop("node reservation"), gettext_noop("notice proof"),
    gettext_noop("optimisation round"), gettext_noop("plan"), gettext_noop("plan baseline"),
    gettext_noop("plan baseline file"), gettext_noop("planned version"),
    gettext_noop("power of attorney"), gettext_noop("preference"), gettext_noop("price effect"),
    gettext_noop("price import"), gettext_noop("price line"), gettext_noop("project issue"),
    gettext_noop("question"), gettext_noop("questionnaire"), gettext_noop("questionnaire draft"),
    gettext_noop("quote"), gettext_noop("quote file"), gettext_noop("quote line"),
    gettext_noop("follow up"),
    gettext_noop("rate card"), gettext_noop("receipt"), gettext_noop("regression job"),
    gettext_noop("regression run"), gettext_noop("review"), gettext_noop("review comment"),
    gettext_noop("risk"), gettext_noop("runtime"), gettext_noop("runtime choice"),
    gettext_noop("saved view"), gettext_noop("schedule effect"), gettext_noop("scope effect"),
    gettext_noop("seal"), gettext_noop("signature"), gettext_noop("signer"),
    gettext_noop("solved case"), gettext_noop("staff certificate"),
    gettext_noop("stage assignment"), gettext_noop("stage comment"), gettext_noop("stage record"),
    gettext_noop("stage transition"), gettext_noop("stage waiver"), gettext_noop("blocker waiver"),
    gettext_noop("delegation"), gettext_noop("agent"),
    gettext_noop("standard text"),
    gettext_noop("stored reading"), gettext_noop("survey"), gettext_noop("task"),
    gettext_noop("tax rate"), gettext_noop("third party report"), gettext_noop("time entry"),
    gettext_noop("timesheet"), gettext_noop("timesheet file"), gettext_noop("todo"),
    gettext_noop("verdict"), gettext_noop("waiver"), gettext_noop("warranty claim"),
    gettext_noop("weekly report"), gettext_noop("weekly report file"),
))


def table_name(name: str) -> str:
    """A model's `verbose_name` in the active language."""
    return gettext(name) if name in WORDS else name
