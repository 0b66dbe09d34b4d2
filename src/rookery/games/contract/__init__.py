"""Checks that every rules module must pass, with messages that say what to fix."""
