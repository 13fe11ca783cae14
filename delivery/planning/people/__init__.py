"""People over all engagements: what they are planned for, booked, away and free, week by week."""
