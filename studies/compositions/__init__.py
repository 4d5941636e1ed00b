"""Six new compositions of capabilities whose contracts were frozen before (section 4.2)."""
