"""What other servers are told of us: pure functions from our rows to ActivityStreams documents."""
