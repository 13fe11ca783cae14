"""What readings are called on pages; in files and in the API the codes stand alone."""
