"""Reviews, what the contract says, and third parties' reports as the API shows them, by topic."""
