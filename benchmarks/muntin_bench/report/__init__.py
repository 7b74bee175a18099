"""The report: tables and figures, from result files alone."""
