"""The board in the browser: `alphago web`."""
