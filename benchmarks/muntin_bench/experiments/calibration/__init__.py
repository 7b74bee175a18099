"""Small designs of experiments for the prices of batch, stream and rolling plans."""
