"""What may be done, what proves it: contract models, files, catalog and the planner's view."""
