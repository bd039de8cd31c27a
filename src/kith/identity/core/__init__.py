"""The collections of the API's `core` area, and what stands beside them: people, groups, tokens, events, roles."""
