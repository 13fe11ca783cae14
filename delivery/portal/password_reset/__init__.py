"""A new password by a link in an e-mail, for whoever has forgotten the old one."""
