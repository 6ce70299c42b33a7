"""``python -m discreet``: the command line, where the installed script is not on the path."""

from discreet.cli import main

if __name__ == "__main__":
    main()
