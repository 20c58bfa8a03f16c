"""Hangs at init: logs of each cause in our own words, and a tree of tests that ends at every one of them."""

import os
import time
from pathlib import Path

import pytest

from core.clinic.hang import CAUSES, TESTS, Finding, judge_causes, next_test
from core.clinic.hang_log import HangLog, read_hang
from core.clinic.silent_init import silent_init
from core.errors import OutOfRangeError
from tests.core.clinic.injected import nccl_start
from tests.each import each

CASES = os.environ.get("SHARDLAB_CASES")


def nccl(host: str, device: int, said: str) -> str:
    return f"{host}:101:102 [{device}] NCCL INFO {said}"


def start(rank: int, size: int = 2, done: bool = False) -> str:
    state = "COMPLETE" if done else "START"
    return f"ncclCommInitRank comm 0x1 rank {rank} nranks {size} cudaDev 0 busId 1000 - Init {state}"


TWO_HOSTS = [nccl(host, 0, line) for host in ("a", "b") for line in ("Bootstrap : Using eth0:192.0.2.1<0>",)]
BOTH = [nccl("a", 0, start(0)), nccl("a", 1, start(1))]
EXCERPTS = {
    "rank_missing": [nccl("a", 0, start(0, 4)), nccl("a", 1, start(1, 4)), nccl("b", 0, start(3, 4))],
    "wrong_interface": [nccl("a", 0, "Bootstrap: Using docker0:172.17.0.1<0>"), nccl("b", 0, start(1))],
    "firewall": [*TWO_HOSTS, nccl("b", 0, "Call to connect returned Connection refused, retrying")],
    "version_mismatch": ["NCCL version 2.20.5+cuda12.4", "(Worker pid=7) vLLM is using nccl==2.27.5"],
    "p2p_blocked": [*BOTH, nccl("a", 0, "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM")],
    "shm_small": [*BOTH, "a:1:2 [0] x.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-x to 9637888 bytes"],
}


def standings(log: HangLog, **outcomes) -> dict[str, str]:
    return {finding.cause: finding.standing for finding in judge_causes(log, outcomes)}


@pytest.mark.parametrize("cause", CAUSES)
def test_a_log_of_each_cause_supports_it(cause):
    assert standings(read_hang("\n".join(EXCERPTS[cause])))[cause] == "supported"


@each("cause", CAUSES)
@each(("hosts", "per_host"), [(1, 2), (1, 8), (2, 1), (2, 4), (3, 2)])
def test_a_start_with_a_fault_put_in_supports_that_fault_and_no_other(cause, hosts, per_host):
    """The log is the fault's own: what its evidence supports is the key, whatever the ranks and hosts."""
    alone = hosts == 1 and cause in ("wrong_interface", "firewall", "version_mismatch")
    if alone or (per_host == 1 and cause in ("p2p_blocked", "shm_small")):
        with pytest.raises(OutOfRangeError, match=f"must be 2 or more for {cause}"):
            nccl_start(cause, hosts, per_host)
        return
    found = standings(read_hang("\n".join(nccl_start(cause, hosts, per_host))))
    supported = {name for name, standing in found.items() if standing == "supported"}
    left = {name for name, standing in found.items() if standing != "excluded"}
    assert supported == {cause} or left == {cause}, found


def test_the_case_of_a_silent_init_shows_the_start_of_a_blocked_copy():
    assert silent_init().log == nccl_start("p2p_blocked", per_host=2)


@pytest.mark.parametrize("prefix", ["", "[1,0]<stdout>:", "  > ", "(Worker_TP0 pid=3) ", "0: "])
def test_prefixes_do_not_hide_a_line(prefix):
    log = read_hang("\n".join(prefix + line for line in EXCERPTS["p2p_blocked"]))
    assert (log.world_size, log.ranks, log.hosts, log.transports) == (2, {0, 1}, 1, {"P2P"})


def test_all_ranks_on_one_host_need_no_port_open():
    found = standings(read_hang("\n".join(EXCERPTS["p2p_blocked"])))
    assert found["firewall"] == found["wrong_interface"] == found["rank_missing"] == "excluded"


def test_after_the_init_only_copies_that_never_arrive_are_left():
    """The classic hang: Init COMPLETE on every rank, GPUs at full utilisation, the first all-reduce never ends.

    NVIDIA/nccl#2079, vllm-project/vllm#33041.
    """
    done = [nccl("a", rank, start(rank, done=True)) for rank in (0, 1)]
    log = read_hang("\n".join(done))
    assert {cause for cause, standing in standings(log).items() if standing != "excluded"} == {"p2p_blocked"}
    assert next_test(judge_causes(log)).key == "p2p"
    log = read_hang("\n".join([nccl("a", 0, "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"), *done]))
    assert Finding("p2p_blocked", "supported", "after_init") in judge_causes(log)
    log = read_hang("\n".join([nccl("a", 0, "Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct"), *done]))
    assert set(standings(log).values()) == {"excluded"}


def after_init(*lines: str, version: str = "2.25.1", hosts: str = "ab") -> dict[str, str]:
    """Where causes stand after two ranks' Init COMPLETE, and what was printed since."""
    done = [nccl(host, 0, start(rank, done=True)) for rank, host in enumerate(hosts)]
    return standings(read_hang("\n".join([f"NCCL version {version}+cuda12.4", *done, *lines])))


def test_an_init_that_is_complete_excludes_no_interface_that_only_data_take():
    """Since 2.22 the first collective connects the ring, over all interfaces found: NVIDIA/nccl-tests#284."""
    found = nccl("a", 0, "NET/Socket : Using [0]eno1:192.0.2.7<0> [1]virbr0:192.168.122.1<0>")
    left = after_init(found)
    assert left["wrong_interface"] == "supported"
    assert {left[cause] for cause in ("rank_missing", "version_mismatch", "shm_small")} == {"excluded"}
    assert after_init(found.partition(" [1]")[0])["firewall"] == "open"
    refused = nccl("a", 0, "socketStartConnect: Connect to 198.51.100.7<40231> failed : Connection timed out")
    assert after_init(refused)["firewall"] == "supported"


def test_a_ring_that_stands_or_that_one_host_holds_excludes_the_network():
    """Before 2.22 the init connects it, and a line says so in every release."""
    network = ("wrong_interface", "firewall")
    for left in (
        after_init(version="2.20.5"),
        after_init(nccl("a", 0, "Connected all rings")),
        after_init(hosts="aa"),
    ):
        assert {left[cause] for cause in network} == {"excluded"}


def test_shared_memory_that_could_not_be_made_after_the_init_is_supported():
    assert after_init(EXCERPTS["shm_small"][-1], hosts="aa")["shm_small"] == "supported"


@pytest.mark.parametrize(
    "lines",
    [
        [nccl("a", 0, "Bootstrap : Using docker0:172.17.0.1<0>"), nccl("a", 0, start(0))],
        [nccl("a", 0, "Bootstrap : Using lo:127.0.0.1<0>"), nccl("a", 0, start(0))],
        [nccl("a", 0, start(0)), nccl("b", 0, start(1))],
        [nccl("a", 0, start(0))],
    ],
    ids=["docker0", "lo", "address", "one rank's log"],
)
@pytest.mark.parametrize("address", ["172.17.0.1", "127.0.0.1"])
def test_a_connection_over_docker0_or_lo_is_a_wrong_interface_and_no_firewall(lines, address):
    refused = nccl("a", 0, f"socketStartConnect: Connect to {address}<35731> failed : Connection refused")
    left = standings(read_hang("\n".join([*lines, refused])))
    assert left["wrong_interface"] == "supported"
    assert left["firewall"] == "open"


def test_rank_0_alone_prints_nccls_version():
    """A version on one rank says nothing of the ranks of another host."""
    log = read_hang(
        "\n".join([nccl("a", 0, "NCCL version 2.20.5+cuda12.4"), nccl("a", 0, start(0)), nccl("b", 0, start(1))])
    )
    assert standings(log)["version_mismatch"] == "open"


def test_every_hosts_own_version_excludes_another():
    """Since 2.22 every process prints its version: the same on all hosts leaves no mismatch."""
    ranks = [nccl(host, 0, start(rank)) for rank, host in enumerate("ab")]
    said = [nccl(host, 0, "NCCL version 2.25.1+cuda12.4") for host in "ab"]
    for count, standing in ((2, "excluded"), (1, "open")):
        log = read_hang("\n".join([*said[:count], *ranks]))
        assert standings(log)["version_mismatch"] == standing


def test_p2p_that_is_not_used_does_not_block():
    log = read_hang("\n".join([*BOTH, nccl("a", 0, "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct")]))
    assert standings(log)["p2p_blocked"] == "excluded"


def test_an_engines_rank_line_counts_as_nccls():
    log = read_hang("DEBUG parallel_state.py:845] world_size=4 rank=2 local_rank=2 backend=nccl")
    assert (log.world_size, log.missing) == (4, (0, 1, 3))


def test_with_nothing_known_the_first_test_halves_the_causes():
    test = next_test(judge_causes(HangLog()))
    assert len(test.on_yes) == len(CAUSES) / 2


@pytest.mark.parametrize("cause", CAUSES)
def test_the_tree_ends_at_the_cause_in_at_most_four_tests(cause):
    """Six causes, two outcomes a test: three tests at the least, four where a test only tells one apart."""
    outcomes = {}
    while sum(finding.standing != "excluded" for finding in judge_causes(HangLog(), outcomes)) > 1:
        test = next_test(judge_causes(HangLog(), outcomes), outcomes)
        outcomes[test.key] = "yes" if cause in test.on_yes else "no"
        assert len(outcomes) <= 4
    assert Finding(cause, "supported", "tested") in judge_causes(HangLog(), outcomes)


def test_one_supported_cause_is_put_to_its_own_test():
    assert next_test(judge_causes(read_hang("\n".join(EXCERPTS["p2p_blocked"])))).key == "p2p"
    assert next_test(judge_causes(read_hang("\n".join(EXCERPTS["firewall"])))).key == "port"


def test_contradicting_outcomes_leave_what_the_later_test_says():
    found = standings(HangLog(), gloo="no", p2p="yes")
    assert found["p2p_blocked"] == "supported"


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.key)
def test_both_outcomes_of_a_test_leave_something_and_together_everything(test):
    yes, no = test.leaves("yes"), test.leaves("no")
    assert yes
    assert no
    assert yes | no == set(CAUSES)


@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "Channel 00 : " * 77_000, "a:1:1 [0] NCCL INFO \n" * 47_000, "1:1:" * 250_000]
)
def test_a_megabyte_is_read_in_well_under_a_second(text):
    began_s = time.process_time()
    read_hang(text)
    assert time.process_time() - began_s < 1


def test_nothing_of_a_text_is_kept_but_names_and_counts():
    log = read_hang("secret-host:1:2 [0] NCCL INFO Bootstrap : Using eth0:10.1.2.3<0>\n/home/me/secret")
    assert "secret" not in repr(log)
    assert "10.1" not in repr(log)


@pytest.mark.parametrize("text", ["", "hello", "\n" * 1000, "NCCL", "rank 99999999 nranks 99999999"])
def test_a_text_without_findings_is_empty(text):
    assert read_hang(text).is_empty


@pytest.mark.skipif(not CASES, reason="needs the folder of real cases")
def test_a_real_log_that_completed_excludes_everything():
    """Two hosts with one A10G each over TCP: both ranks print Init COMPLETE."""
    log = read_hang(Path(str(CASES), "nccl", "a10g-tcp-10gbe-2x1gpu.txt").read_text())
    assert (log.world_size, log.hosts, log.transports, log.complete) == (2, 2, {"NET"}, 2)
    assert set(standings(log).values()) == {"excluded"}
