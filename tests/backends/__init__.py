"""Right backends that differ from the reference's as much as the contract lets them: the kit must pass every one."""
