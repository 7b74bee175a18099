"""A Kafka broker on loopback and the jars by which Spark reads it, for people who try it and for the tests."""
