"""Why a move is bad: facts with numbers, found by searches and by reading the board."""
