"""The customer's acceptance: review, decision, signatures, seals and contract terms."""
