# Configuration of azulejo's lit tests; loaded from the build tree's site file.
import os
import shutil
import subprocess

import lit.formats

config.name = "azulejo"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.azulejo_binary, "tests", "lit")

# Only the tools of this build and of the pinned LLVM are found, never others
# of the same name; the system's path follows for the shell's own commands.
config.environment["PATH"] = os.pathsep.join(
    [config.azulejo_tools, config.llvm_tools, os.environ.get("PATH", "")])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
config.environment["LC_ALL"] = "C"

# A test that needs a tool says "REQUIRES: tool-<name>".
for tool in ("azulejo-opt", "azulejo", "azulejo-graph-text"):
    if os.access(os.path.join(config.azulejo_tools, tool), os.X_OK):
        config.available_features.add("tool-" + tool)

# Limits on a user's processes do not bind a privileged user. Not under the
# sanitizers, whose runtimes need threads of their own.
unprivileged = [] if os.getuid() else [
    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
try:
    reachable = subprocess.run(
        unprivileged + [os.path.join(config.azulejo_tools, "azulejo"), "env"],
        capture_output=True).returncode == 0
except OSError:
    reachable = False
if reachable and not config.azulejo_sanitize:
    config.available_features.add("unprivileged")
else:
    lit_config.note("no tests with few threads: the command cannot be run as a "
                    "user without privileges, or has sanitizers")
config.substitutions.append(("%unprivileged", " ".join(unprivileged)))

# Gives a command a terminal; where it is missing its tests are unsupported.
if shutil.which("script"):
    config.available_features.add("tool-script")

# A CUDA driver that is none, for tests of what the command does with one.
mock_cuda = os.path.join(config.azulejo_binary, "lib", "libAzulejoMockCuda.so")
if os.path.exists(mock_cuda):
    config.available_features.add("mock-cuda")
config.substitutions.append(("%mock_cuda", mock_cuda))

config.substitutions.append(("%source", config.azulejo_source))
