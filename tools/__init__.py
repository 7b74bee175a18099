"""What the repository needs beside the library: brokers and jars for tests, and what the documentation is made with."""
