"""Linear layouts of tensors, conversions between them, and accesses through them."""
