"""Where addresses are: country, city and network, from files of the operator."""
