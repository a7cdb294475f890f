"""Maskwright: which tokens keep the text inside a format."""
