"""What is served to other servers: people, posts and lists as ActivityStreams documents."""
