from django.apps import AppConfig


class FaultsConfig(AppConfig):
    name = "tests.faults"
    label = "faults"

    def ready(self):
        from workers.kinds import base
        from workers.kinds.base import Finished, JobKind, Judgement, Parameter

        class Counted(JobKind):
            """Writes to a book on the node that it ran, then logs, writes files and exits."""

            code = "test.counted"
            title = "counted"
            needs_model = False
            timeout_seconds = 600
            collect = ("*.bin", "*.txt")
            parameters = (Parameter("script", "script"),
                          Parameter("cards", "cards", "integer", default=0))

            def argv(self, parameters):
                return ["sh", parameters["script"]]

            def judge(self, finished: Finished) -> Judgement:
                return Judgement(finished.exit_status == 0, "Finished.")

        base.register(Counted)
