"""Configuration as files: YAML that says which records there are, applied in one transaction."""
