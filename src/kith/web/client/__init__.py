"""The member's web client: pages of timelines, posts and people, made on the server from what the API answers."""
