"""Power of racks as an example: measured by a job, judged by a rule, written in a document."""
