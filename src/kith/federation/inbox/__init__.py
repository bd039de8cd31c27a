"""What other servers send us: checked and kept while they wait for the answer, and done afterwards, once."""
