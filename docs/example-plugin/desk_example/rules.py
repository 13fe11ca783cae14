"""A rule, and the fact that it needs, drawn from the reading."""

from workers.rules.base import WARN, rule
from workers.rules.facts import Observed, observes

MOST_WATTS = 30_000


@observes("rack_power", gives="rack_watts")
def watts(seen):
    yield Observed("rack_watts", seen.values.get("most_watts"))


rule("R-RACK-01", WARN, "D", "rack_watts", "The rack takes more power than its feed gives.",
     "Spread the cards over two racks.", lambda facts: facts["rack_watts"] > MOST_WATTS)
