"""What the review page shows: deliverables, results per model, progress, re-test comparison."""
