"""forkbench: what a session store costs, always against a reference measured in the same run.

So far one room: `forkbench.session_costs`, the costs that the memory backend is held to.
"""
