from bundle_verifier.command_line import run

run()
