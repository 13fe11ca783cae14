"""The worker's loop: claims, node polling, steps of a job, its end, cleaning up."""
