"""Instruments: one idea a file, each usable alone. They watch or steer a backend; they never judge it."""
