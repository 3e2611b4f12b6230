"""``python -m vacmcpd.cli``: the command line where no script is installed."""

from .app import main

if __name__ == "__main__":
    main()
