"""`python -m ioi_eval` is `ioi-eval`, also where no directory of commands is on the PATH."""

from ioi_eval.cli.main import main

if __name__ == "__main__":
    main()
