"""Logs of jobs: kept while they grow, searched, watched for early warnings."""
