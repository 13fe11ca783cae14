"""A firm with many engagements: fills a database, then asks every page and API list of it."""
