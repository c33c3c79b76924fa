"""Figures: each function takes data and returns a figure that shows itself in a notebook."""
