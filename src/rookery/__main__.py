"""`python -m rookery` is the command `rookery`."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command; Ctrl-C is quiet from the first import on."""
    try:
        from rookery.interface import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
