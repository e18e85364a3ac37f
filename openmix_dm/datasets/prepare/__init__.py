"""Data sets as they are downloaded, made into the files that the loaders read; a module for each kind."""
