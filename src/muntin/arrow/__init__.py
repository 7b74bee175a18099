"""What Python workers do with Arrow batches, between the kernels and Spark: nothing here knows PySpark."""
