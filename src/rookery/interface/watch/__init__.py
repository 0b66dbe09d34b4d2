"""A run seen from outside: its folder is read while another process trains it."""

from rookery.interface.watch.live import watch_run

__all__ = ["watch_run"]
