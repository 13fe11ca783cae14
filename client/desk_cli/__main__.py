from desk_cli.main import cli

cli(prog_name="desk-cli")
