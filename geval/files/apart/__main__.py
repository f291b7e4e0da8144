"""`python -m geval.files.apart`: a process that reads files for another one."""

from geval.files.apart.process import main

if __name__ == "__main__":
    main()
