"""torch, modelled: tensors as shapes (with values while they are small), and every layer of torch.nn that holds tensors."""
