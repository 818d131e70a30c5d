"""`python -m service_kit MODULE ARGUMENT...`: the entry point of the images."""

from service_kit.first_process import run_first

if __name__ == "__main__":
    run_first()
