"""What entering an application has in common, whatever the protocol: who may enter, and the flow on the way."""
