"""The players of the arena: random, minimax, solvers, UCI engines and networks with search."""
