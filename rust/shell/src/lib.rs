//! Terminals: PTYs, shell integration, the pool, and what the output says.
