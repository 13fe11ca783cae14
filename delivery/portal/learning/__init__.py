"""What the engagements teach: commonest risks, days of similar models, days by grade and stage,
card hours beside what was quoted for resources."""
