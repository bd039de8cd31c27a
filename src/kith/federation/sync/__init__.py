"""Followers synchronisation (FEP-8fcf): two servers find out whether they agree on who follows whom."""
