"""From stored files to measurements and verdicts. Being written now."""
