"""Which figures make up the engine's table? One module a group; each has `measure(run) -> list[Row]`."""
