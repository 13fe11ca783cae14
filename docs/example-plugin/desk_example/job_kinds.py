"""A kind of job: fetches what the rack's meter wrote."""

from engagements.stages import Stage
from workers.kinds import JobKind, Judgement, Parameter, register


@register
class RackPowerCheck(JobKind):
    code = "env.rack_power"
    title = "Power of the rack"
    description = "Copies the meter's file and reads it."
    success = "The file holds values."
    stages = (Stage.ENV,)
    needs_model = False
    usual_seconds = 5
    collect = ("power.csv",)
    judged_files = ("power.csv",)
    parameters = (Parameter("file", "File of the meter", "path", default="/var/rack/power.csv"),)

    def argv(self, parameters):
        return ["cp", "--", parameters["file"], "power.csv"]

    def conclude(self, finished):
        readings = finished.in_files("rack_power")
        if finished.exit_status != 0 or not readings:
            return Judgement(False, "The meter's file was not there or holds nothing.")
        found = {"watts": readings[0].values["most_watts"]}
        return Judgement(True, "At most %(watts)s W.", found, found)
