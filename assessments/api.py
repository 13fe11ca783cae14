"""REST doors of criteria, baselines and verdicts."""

routes: list = []
