"""The web app behind `rookery serve`: play, analyse, watch runs. Needs the extra `web`."""
