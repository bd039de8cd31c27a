"""People on other servers: their actor documents as accounts here."""
