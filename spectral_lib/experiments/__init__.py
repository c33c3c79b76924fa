"""The trained grid: its corpus, its recipe, its training and its publication."""
