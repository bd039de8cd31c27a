"""Activities on their way to other servers: kept until each inbox has answered, whatever happens meanwhile."""
