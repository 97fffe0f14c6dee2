"""A real Slurm on this machine alone, with its own key, ports, folders and processes.

On leaving, every process that has its SLURM_CONF is killed, even a shell in which that was exported.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.killed_processes import until

DAEMONS = ("munged", "slurmctld", "slurmd")
SEARCHED = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin"])
# SIGKILL follows SIGTERM after a second, and a requeued job waits for six; elsewhere both take minutes.
# Tests may use more processors and memory than there are.
SETTINGS = """
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
KillWait=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=64000
PartitionName=everyday Nodes=ALL Default=YES PriorityTier=1
PartitionName=urgent Nodes=ALL PriorityTier=2
"""


def why_not() -> str | None:
    """The reason why there can be no cluster here, if there is one."""
    if missing := [name for name in (*DAEMONS, "sbatch") if shutil.which(name, path=SEARCHED) is None]:
        return f"there is no Slurm here ({', '.join(missing)} not found): apt-get install slurm-wlm munge"
    return None if os.geteuid() == 0 else "only root can start a Slurm of its own"


class DoesNotStartError(Exception):
    """The daemons did not come up, as in a container that forbids what they need."""


@dataclass(frozen=True)
class OneNodeCluster:
    settings: Path

    def finished(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """One of Slurm's commands after it was run."""
        env = os.environ | {"SLURM_CONF": str(self.settings)}
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)

    def run(self, *command: str) -> str:
        """The output of one of Slurm's commands."""
        done = self.finished(*command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout.strip()

    def job_named(self, start: str) -> str:
        """The id of the only job with such a name that has not ended."""
        lines = self.run("squeue", "--noheader", "--format=%i %j").splitlines()
        (job_id,) = (line.split()[0] for line in lines if line.split()[1].startswith(start))
        return job_id

    def state(self, job_id: str) -> str:
        return self.run("squeue", "--states=all", "--noheader", "--format=%T", f"--jobs={job_id}")

    def turns(self, job_id: str) -> int:
        """How often it was requeued."""
        shown = self.run("scontrol", "show", "job", job_id)
        return int(next(word for word in shown.split() if word.startswith("Restarts=")).removeprefix("Restarts="))


@contextmanager
def one_node_cluster() -> Iterator[OneNodeCluster]:
    """A cluster that is up inside the context and has no process left after it."""
    # The name of a socket must be short, and pytest's folders have long names.
    folder = Path(tempfile.mkdtemp(prefix="one-node-cluster-", dir="/tmp"))
    cluster = OneNodeCluster(folder / "slurm.conf")
    with ExitStack() as cleaning:
        cleaning.callback(shutil.rmtree, folder, ignore_errors=True)
        _write_settings(cluster.settings)
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        names = {"key-file": key.name, "socket": "munge.socket", "pid-file": "munged.pid", "seed-file": "munged.seed"}
        options = [f"--{option}={folder / name}" for option, name in names.items()]
        cleaning.callback(_kill_all_with, f"SLURM_CONF={cluster.settings}")
        cleaning.enter_context(_daemon("munged", "--foreground", "--force", *options, settings=cluster.settings))
        try:
            until((folder / "munge.socket").exists, what="munged")
            cleaning.enter_context(_daemon("slurmctld", "-D", settings=cluster.settings))
            cleaning.enter_context(_daemon("slurmd", "-D", settings=cluster.settings))
            sinfo = ["sinfo", "--noheader", "--format=%T", "--partition=everyday"]
            until(lambda: cluster.finished(*sinfo).stdout.strip() == "idle", what="an idle node")
        except AssertionError as error:
            last = [f"{log.name}: {log.read_text().splitlines()[-1:]}" for log in sorted(folder.glob("*.log"))]
            raise DoesNotStartError(f"{error}; {'; '.join(last)}") from error
        yield cluster


def _write_settings(path: Path) -> None:
    with socket.socket() as first, socket.socket() as second:
        for each in (first, second):
            each.bind(("127.0.0.1", 0))
        controller_port, node_port = (each.getsockname()[1] for each in (first, second))
    for name in ("state", "spool"):
        (path.parent / name).mkdir()
    host = socket.gethostname().split(".")[0]
    text = SETTINGS.format(host=host, folder=path.parent, controller_port=controller_port, node_port=node_port)
    path.write_text(text, encoding="utf-8")


@contextmanager
def _daemon(*command: str, settings: Path) -> Iterator[None]:
    """A process that ends with the context, and with this process even if that is killed."""
    log = (settings.parent / f"{command[0]}.log").open("w")
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", *command],
        env={"PATH": SEARCHED, "SLURM_CONF": str(settings)},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    with log, process:
        try:
            yield
        finally:
            process.kill()


def _kill_all_with(variable: str) -> None:
    """Kill daemons, jobs and commands that wait for jobs: every process with this variable."""

    def none_is_left() -> bool:
        killed = 0
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if variable.encode() in path.read_bytes().split(b"\0"):
                    os.kill(int(path.parent.name), signal.SIGKILL)
                    killed += 1
        return not killed

    until(none_is_left, what="the end of all processes")
