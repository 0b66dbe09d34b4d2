"""Search of one position with batched leaves, tree reuse and principal variations."""
