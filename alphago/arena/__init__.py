"""Who is stronger: players that move in many games at once, and matches among them."""
