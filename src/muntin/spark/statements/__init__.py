"""SQL text run by Spark: sources, statements over shared inputs, results as the dialect writes them."""
