"""What Kith promises about speed and size, measured in one run against baselines of the same run."""
