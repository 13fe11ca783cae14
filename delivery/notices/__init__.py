"""Notices of what happened: inbox, e-mail, chat robots and signed webhooks."""
