"""Single logout: asked for by a service, and told to all services where somebody is signed in."""
