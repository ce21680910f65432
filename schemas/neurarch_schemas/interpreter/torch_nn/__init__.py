"""torch, modelled: tensors as shapes (with values while small), and the layers of torch.nn that hold tensors."""
