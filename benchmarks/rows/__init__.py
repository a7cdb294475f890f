"""Which figures make up the engine's table? One module for each group; each has `measure(run) -> list[Row]`."""
