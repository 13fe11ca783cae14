"""The command of a job on its page: scripts are told apart by their number."""

from django.utils import translation

from workers.labels.command_words import of_command

LONG = "x" * 401


def test_several_scripts_are_numbered_and_one_is_not():
    with translation.override("en"):
        names = [[word.script_name for word in of_command(command)] for command in (
            ["sh", "-c", LONG, "then"], ["sh", LONG, "-c", LONG], ["sh", "x" * 400])]
    assert names == [["", "", "Script", ""], ["", "Script 1", "", "Script 2"], ["", ""]]
