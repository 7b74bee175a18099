"""Experiments that anyone can repeat: each writes one result file, and the report is made of those files alone."""
