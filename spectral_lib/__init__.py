"""Spectrum-adaptive generalization bounds for trained Transformers."""
