"""Methods of CGZero (github.com/marchete/CGZero), made of the parts that any program can give a run."""
