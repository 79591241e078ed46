"""Pictures of boards and games, and diagrams: shapes in plain Python, written as SVG or painted with Pillow."""
