"""Pages of reviews, signing, contract terms, powers of attorney and third-party reports."""
