"""A tuning run: the loop, its iterations and results, the limits of weights, the decoder and the methods as
the loop sees them."""
