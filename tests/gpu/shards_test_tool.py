"""A tool that runs a program, as a sanitizer does, and finds an error in it."""
import subprocess
import sys

subprocess.run(sys.argv[1:], check=False)
print("===== 1 error")
sys.exit(9)
