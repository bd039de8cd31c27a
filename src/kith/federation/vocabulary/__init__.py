"""ActivityStreams documents: ours, made of our rows, and those of others, read into ours."""
