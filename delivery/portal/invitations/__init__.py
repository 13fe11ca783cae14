"""Invitations: accounts made from a list, each with a link by e-mail to a password of one's own."""
