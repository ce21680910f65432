"""What a model is: reading, configuration, tensors and the sums over them."""

__version__ = "0.1.0"
