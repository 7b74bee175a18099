"""Run the muntin command as `python -m muntin`."""

from muntin.cli import main

main(prog_name="muntin")
