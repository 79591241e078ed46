"""What every floor uses: files, cores, time, checks of what a caller passes."""
