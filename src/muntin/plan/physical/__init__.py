"""Physical plans: which shape each group of windows gets on Spark, by price."""
