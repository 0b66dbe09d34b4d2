"""`python -m rookery` is the command `rookery`."""

from rookery.interface import main

main()
