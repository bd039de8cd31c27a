"""SCIM 2.0 (RFC 7643, RFC 7644): its vocabulary, filters and changes, for the source that receives and the provider
that sends."""
