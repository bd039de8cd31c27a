"""HTTP signatures, as pure functions: draft-cavage-12 and RFC 9421, made and checked."""
