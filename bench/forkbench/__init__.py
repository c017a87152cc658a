"""forkbench: what a session store costs, always against a reference measured in the same run.

Rooms to run: `session_costs`, what an append and a fork cost in any store; `file_costs`, what forks, opening and
commits cost in a store on session files; `generation_costs`, what generated sessions cost. They share `rounds` (turns
of a work and its references), `figures` (a measured cost and its bound) and `command` (from a command line to figures).
"""
