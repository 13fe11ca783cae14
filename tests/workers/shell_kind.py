"""A job kind that runs any shell script, for tests of dispatch."""

from workers.kinds import Finished, JobKind, Judgement, Parameter


class ShellKind(JobKind):
    code = "test.shell"
    title = "shell"
    needs_model = False
    collect = ("*.txt", "sub/*.txt")
    parameters = (Parameter("script", "script"), Parameter("cards", "cards", "integer", default=0))

    def argv(self, parameters):
        return ["sh", "-c", parameters["script"]]

    def judge(self, finished: Finished) -> Judgement:
        return Judgement(finished.exit_status == 0, "status %(status)s",
                         {"status": finished.exit_status})
