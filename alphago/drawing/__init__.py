"""Pictures of boards, games and networks: shapes in plain Python, written as SVG or painted with Pillow."""
