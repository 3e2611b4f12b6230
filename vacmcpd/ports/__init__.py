"""The ports: what the engine and the lifecycle need, said as protocols, one a module."""
