"""Why a run failed: one catalogue of causes for readings, the diagnosis of jobs and pages."""
