"""``python -m pteron``."""

from pteron.cli import main

if __name__ == "__main__":
    main()
