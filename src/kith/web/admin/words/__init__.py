"""The words of the console for the records of the identity API, whose own names and helps are for programs."""
