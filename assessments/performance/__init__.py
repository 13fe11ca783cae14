"""Performance figures of a model: profiles, scaling, optimisation rounds, gains."""
