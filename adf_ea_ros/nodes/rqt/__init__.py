"""The rqt plugin. ``model`` says what is shown and knows no Qt; ``widget`` draws it; rqt loads ``plugin``."""
