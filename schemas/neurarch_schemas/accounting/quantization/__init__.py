"""What a quantized checkpoint stores: packed weights and their scales, from ``quantization_config`` and the tree."""
