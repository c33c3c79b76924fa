"""Entropies and bounds that are theorems, every constant explicit."""
