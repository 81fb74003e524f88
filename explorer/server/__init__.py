"""The web server: a gunicorn process and its worker. The application itself is in `views`."""
