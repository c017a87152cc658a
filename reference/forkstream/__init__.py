"""The reference Durable Streams server, agent forks included.

An empty room so far: the package holds its place in the distribution and in the import rules. It may import the
standard library and its own dependencies, and nothing else of this project.
"""
