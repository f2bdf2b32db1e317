"""The product killed, starved and crowded, in both ways to run it, and what came of it."""
