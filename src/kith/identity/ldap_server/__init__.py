"""The LDAP server: people and groups for applications that know nothing else. It is read only."""
