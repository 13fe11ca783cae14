"""A job kind that runs any shell script, for tests of dispatch."""

from workers.kinds import Finished, JobKind, Judgement, Parameter


class ShellKind(JobKind):
    code = "test.shell"
    title = "shell"
    needs_model = False
    collect = ("*.txt", "sub/*.txt", "out/*")
    parameters = (Parameter("script", "script"), Parameter("cards", "cards", "integer", default=0))

    def argv(self, parameters):
        return ["sh", "-c", parameters["script"]]

    def judge(self, finished: Finished) -> Judgement:
        return Judgement(finished.exit_status == 0, "status %(status)s",
                         {"status": finished.exit_status})


class InputKind(ShellKind):
    """The same with a path, which may be a reference, as the script's first argument."""

    code = "test.input"
    collect = ("*.txt", "out/*")
    parameters = (*ShellKind.parameters, Parameter("data", "data", "path"))

    def argv(self, parameters):
        return ["sh", "-c", parameters["script"], "job", parameters["data"]]
