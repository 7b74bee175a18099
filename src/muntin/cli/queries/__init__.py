"""muntin run and muntin explain: the statements of a file, over inputs that are named on the command line."""
