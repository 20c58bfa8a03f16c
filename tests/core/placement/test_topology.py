"""`nvidia-smi topo -m` as different machines print it.

The tables are written anew in the layouts that posted outputs have: tabs or runs of spaces, mlx5 or NIC columns,
with and without affinities, coloured headers, legends, prompts before and after.
"""

import json
import time

import pytest

from core.catalog import gpu, model
from core.errors import OutOfRangeError, UnreadableTextError
from core.placement.cluster import more_tables, seen_cluster, usual_cluster
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.pairing import engine_gpus, pairing
from core.placement.plan import Question
from core.placement.planner import place
from core.placement.rank_memory import measured_budget
from core.placement.topology import kept_together, read_topology
from core.placement.trace import grounds
from runtime.prose import worded

LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NV#  = Connection traversing a bonded set of # NVLinks
"""


def table(ways: list[list[str]], nics: list[str] | None = None, nic_ways: list[list[str]] | None = None, gap="\t"):
    """A printed table of GPUs, and NICs after them."""
    names = [f"GPU{place}" for place in range(len(ways))]
    lines = ["\t" + gap.join([*names, *(nics or []), "CPU Affinity", "NUMA Affinity"])]
    for at, row in enumerate(ways):
        lines.append(gap.join([names[at], *row, *((nic_ways or [[]] * len(ways))[at]), "0-63", "0"]))
    return "\n".join(lines) + "\n" + LEGEND


def full(gpus: int, way: str) -> list[list[str]]:
    """Every pair alike."""
    return [[" X " if one == other else way for other in range(gpus)] for one in range(gpus)]


def test_eight_gpus_on_nvswitch_with_a_nic_each():
    nics = [f"NIC{place}" for place in range(8)]
    near = [["PIX" if one == other else "SYS" for other in range(8)] for one in range(8)]
    found = read_topology(table(full(8, "NV18"), nics, near))
    assert (found.gpus, found.domain, len(found.nics), len(found.near_nics)) == (8, 8, 8, 8)
    assert found.nvlink_present
    assert found.worst_way == "NV18"


def test_a_table_ends_with_its_legend():
    """What a terminal shows after it, a row of another machine too, is no part of it."""
    printed = table(full(2, "NV18"))
    assert read_topology(f"{printed}GPU0\t X \tSYS\t0-63\t0\nGPU1\tSYS\t X \t0-63\t0\n") == read_topology(printed)


def test_two_consumer_gpus_have_no_nvlink():
    found = read_topology(table(full(2, "PHB")))
    assert (found.gpus, found.domain, found.nvlink_present) == (2, 1, False)
    assert found.worst_way == "PHB"


def test_bridged_pairs_are_domains_of_two():
    ways = [
        [" X ", "NV4", "SYS", "SYS"],
        ["NV4", " X ", "SYS", "SYS"],
        ["SYS", "SYS", " X ", "NV4"],
        ["SYS", "SYS", "NV4", " X "],
    ]
    found = read_topology(table(ways))
    assert found.domains == ((0, 1), (2, 3))
    assert found.domain == 2
    assert found.worst_way == "SYS"


@pytest.mark.parametrize(
    "decorate",
    [
        lambda line: f"> {line}",
        lambda line: f"vllm-1  | {line}",
        lambda line: "| " + " | ".join(line.split("\t")) + " |",
        lambda line: " ".join(line.split()),
        lambda line: line.replace("\t", ","),
        lambda line: f'  "{line}\\n"'.replace("\t", "\\t"),
        lambda line: line.replace("Affinity", "Affi\nnity").replace("0-63", "0-15,\n64-79"),
    ],
)
def test_what_a_table_passes_through_changes_nothing(decorate):
    lines = table(full(2, "NV12")).splitlines()
    lines.insert(1, "\t".join(["---"] * 5))
    assert read_topology("\n".join(map(decorate, lines))) == read_topology(table(full(2, "NV12")))


@pytest.mark.parametrize("mark", ["", "␛", "^[", "←", "\\033", "\\u001b", "\x1b"])
def test_an_underlined_header_is_read_whatever_became_of_the_escape_character(mark):
    header, *rows = table(full(4, "NV6")).splitlines()
    assert read_topology("\n".join([f"{mark}[4m{header}{mark}[0m", *rows])) == read_topology(table(full(4, "NV6")))


@pytest.mark.parametrize(
    "prefix", ["[rank0]: ", "2031-02-03T04:05:06.7Z ", "(Worker pid=12) ", "[1,0]<stdout>:", "0: ", "12:00 INFO | "]
)
def test_what_a_log_puts_before_each_line_changes_nothing(prefix):
    lines = table(full(3, "NV12"), ["NIC0"], [["PIX"], ["NODE"], ["SYS"]]).splitlines()
    assert read_topology("\n".join(prefix + line for line in lines)) == read_topology("\n".join(lines))


@pytest.mark.parametrize("gap", ["\n\n", "\n\n\n", "\r\n"])
def test_blank_lines_between_rows_do_not_end_a_table(gap):
    assert read_topology(table(full(8, "NV18")).replace("\n", gap)) == read_topology(table(full(8, "NV18")))


@pytest.mark.parametrize("name", ["NIC0", "mlx5_bond_0", "mlx5_ib0", "irdma0", "mana_0", "ionic_3", "rocep1s0f0"])
def test_a_nic_of_any_name_counts(name):
    found = read_topology(table(full(2, "SYS"), [name, "mlx5_1"], [["PIX", "SYS"], ["PXB", "SYS"]]))
    assert (found.nics, found.near_nics) == ((name, "mlx5_1"), (name,))


def test_names_without_a_blank_between_them_are_two():
    """Some drivers' tabs come out as nothing: `NIC1NIC2`, and a header that ended there would lose GPUs."""
    nics = ["NIC0", "NIC1", "NIC2"]
    text = table(full(2, "NV18"), nics, [["PIX", "SYS", "PXB"]] * 2, gap="   ")
    assert read_topology(text.replace("NIC1   NIC2", "NIC1NIC2")) == read_topology(text)
    assert read_topology(text.replace("GPU0   GPU1", "GPU0GPU1")) == read_topology(text)
    assert read_topology(text.replace("NIC0   NIC1", "NIC0NIC1").replace("PIX   SYS", "PIXSYS")) == read_topology(
        text
    )
    header, *rows = text.splitlines()
    assert read_topology("\n".join([header.replace("   ", ""), *rows])) == read_topology(text)


def test_a_gpu_that_lost_its_nvlink_stands_alone():
    ways = [["X" if a == b else "NODE" if 2 in (a, b) else "NV18" for b in range(4)] for a in range(4)]
    assert read_topology(table(ways)).domains == ((0, 1, 3), (2,))


def showtopo(gpus: int, way: str) -> str:
    """What `rocm-smi --showtopo` prints: weights, hops, then the types of links."""
    tables = (("Weight", "15"), ("Hops", "1"), ("Link Type", way))
    lines = ["====== ROCm System Management Interface ======"]
    for title, cell in tables:
        lines += [f"====== {title} between two GPUs ======", "       " + "   ".join(f"GPU{n}" for n in range(gpus))]
        lines += [f"GPU{a}   " + "   ".join("0" if a == b else cell for b in range(gpus)) for a in range(gpus)]
        lines.append("")
    return "\n".join([*lines, "GPU[0] : (Topology) Numa Node: 0"])


def test_of_amds_tables_the_types_of_links_are_read():
    """XGMI joins all of a node, PCIE none; the tables of weights and hops before it name no way."""
    joined, apart = read_topology(showtopo(8, "XGMI")), read_topology(showtopo(4, "PCIE"))
    assert (joined.gpus, joined.domain, joined.nvlink_present, joined.worst_way) == (8, 8, True, "XGMI")
    assert (apart.gpus, apart.domain, apart.nvlink_present, apart.worst_way) == (4, 1, False, "PCIE")
    cluster = usual_cluster(gpu("mi300x"), 8)
    assert seen_cluster(cluster, joined) == cluster
    assert seen_cluster(cluster, apart).link.key == "pcie-5"


def amd_smi(gpus: int, way: str) -> str:
    """What `amd-smi topology` prints: tables whose rows and columns are addresses on the bus."""
    names = [f"0000:{place + 10:02x}:00.0" for place in range(gpus)]
    tables = (
        ("ACCESS", "ENABLED", "ENABLED"),
        ("WEIGHT", "0", "15"),
        ("HOPS", "0", "1"),
        ("LINK TYPE", "SELF", way),
    )
    lines = []
    for title, itself, other in tables:
        lines += [f"{title} TABLE:", " " * 13 + " ".join(names)]
        lines += [f"{one} " + " ".join(itself if one == two else other for two in names) for one in names]
        lines.append("")
    return "\n".join(lines)


def amd_json(gpus: int, way: str) -> str:
    """`amd-smi topology --json`."""
    links = [[{"gpu": b, "link_type": "SELF" if a == b else way} for b in range(gpus)] for a in range(gpus)]
    return json.dumps(
        [{"gpu": gpu, "bdf": "0000:08:00.0", "links": ways} for gpu, ways in enumerate(links)], indent=4
    )


def older_amd_json(gpus: int, way: str) -> str:
    """The same before ROCm 6.3."""
    ways = [{f"gpu_{b}": "SELF" if a == b else way for b in range(gpus)} for a in range(gpus)]
    return json.dumps([{"gpu": gpu, "weight": {}, "link_type": named} for gpu, named in enumerate(ways)])


def rocm_json(gpus: int, way: str) -> str:
    """`rocm-smi --showtopo --json`: each pair once."""
    pairs = [(a, b) for a in range(gpus) for b in range(a + 1, gpus)]
    return json.dumps({"system": {f"(Topology) Link type between DRM devices {a} and {b}": way for a, b in pairs}})


@pytest.mark.parametrize("printed", [amd_smi, amd_json, older_amd_json, rocm_json])
@pytest.mark.parametrize("around", ["{}", "[me@node ~]$ amd-smi topology\n{}\nNUMA BW TABLE:"])
def test_amds_newer_tool_and_both_tools_json_say_the_same(printed, around):
    for gpus, way in ((8, "XGMI"), (4, "PCIE")):
        assert read_topology(around.format(printed(gpus, way))) == read_topology(showtopo(gpus, way))


@pytest.mark.parametrize(
    "text",
    [
        showtopo(4, "15"),
        amd_smi(4, "15"),
        "amd-smi topology\nLINK TYPE TABLE:\n 0000:05:00.0 XGMI",
    ],
)
def test_an_amd_paste_without_that_table_is_refused_as_such(text):
    with pytest.raises(UnreadableTextError, match="AMD's tools"):
        read_topology(text)


def test_a_cluster_takes_its_links_from_the_table():
    """NV4 is a third of an A100's twelve links of 25 GB/s; PHB is none of them, whatever the GPU can do."""
    pairs = [["X" if a == b else "NV4" if a ^ b == 1 else "SYS" for b in range(4)] for a in range(4)]
    cluster = usual_cluster(gpu("a100-80gb-sxm"), 8)
    bridged = seen_cluster(cluster, read_topology(table(pairs)))
    assert (bridged.gpus_per_node, bridged.domain, bridged.link.bandwidth_bytes_per_s) == (4, 2, 100e9)
    assert bridged.slowest_link(4).key == "pcie-4"
    whole = seen_cluster(cluster, read_topology(table(full(8, "NV12"))))
    assert whole == cluster
    assert seen_cluster(cluster, read_topology(table(full(2, "PHB")))).link.key == "pcie-4"


def test_a_table_of_one_node_does_not_end_a_domain_of_many():
    """A GB200's tray shows four GPUs; its NVLink goes on to seventy-two."""
    racks = usual_cluster(gpu("gb200"), 4, 18)
    assert seen_cluster(racks, read_topology(table(full(4, "NV18")))).domain == 72


@pytest.mark.parametrize(
    ("gpu_key", "table_of", "way"),
    [
        ("a100", "NV18", "NV18"),
        ("a100-80gb-pcie", "NV18", "NV18"),
        ("v100", "NV12", "NV12"),
        ("h100", "XGMI", "XGMI"),
    ],
)
def test_a_table_that_can_only_be_another_gpu_s_is_refused(gpu_key, table_of, way):
    """An A100 has twelve links, a V100 six; what eighteen bond is an H100's, and xGMI is AMD's."""
    with pytest.raises(OutOfRangeError, match=f"{way}.*name the GPU that the table is of"):
        seen_cluster(usual_cluster(gpu(gpu_key), 8, 1), read_topology(table(full(8, table_of))))


@pytest.mark.parametrize(("gpu_key", "way"), [("rtx-4090", "PHB"), ("h100-sxm", "NV18")])
def test_half_the_gpus_that_a_table_shows_cross_to_the_next_node_as_others_do(gpu_key, way):
    """Eight that meet over PCIe are one node's eight: of two nodes of four, eight meet over the network."""
    halves = usual_cluster(gpu(gpu_key), 4, 2)
    seen = seen_cluster(halves, read_topology(table(full(8, way))), 4)
    assert (seen.gpus_per_node, seen.domain, seen.crosses(4), seen.crosses(8)) == (4, 4, False, True)


def test_a_cube_mesh_falls_into_its_fully_joined_halves():
    """DGX-1: each GPU reaches four others, and GPUs 0 to 3 all reach each other."""
    joined = {(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 5), (2, 3), (2, 6), (3, 7)}
    joined |= {(4, 5), (4, 6), (4, 7), (5, 6), (5, 7), (6, 7)}
    ways = [
        ["X" if a == b else "NV1" if (min(a, b), max(a, b)) in joined else "SYS" for b in range(8)]
        for a in range(8)
    ]
    assert read_topology(table(ways)).domains == ((0, 1, 2, 3), (4, 5, 6, 7))


def test_spaces_in_place_of_tabs_and_old_names():
    text = """$ nvidia-smi topo -m
        GPU0    GPU1    mlx4_0  CPU Affinity
GPU0     X      SOC     PHB     0-9,20-29
GPU1    SOC      X      SOC     10-19,30-39
mlx4_0  PHB     SOC      X
"""
    found = read_topology(text)
    assert (found.gpus, found.nics, found.worst_way) == (2, ("mlx4_0",), "SOC")
    assert found.near_nics == ()


def test_a_coloured_header_between_other_output():
    text = "Sat Nov 21\n\x1b[4mGPU list\x1b[0m\nGPU 0: NVIDIA H100\n\n"
    text += "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    text += (
        "GPU0\t X \tNV18\tPXB\t0-51\t0\t\tN/A\nGPU1\tNV18\t X \tPXB\t0-51\t0\t\tN/A\nNIC0\tPXB\tPXB\t X \t\t\t\t\n"
    )
    found = read_topology(text + "\nNIC Legend:\n\n  NIC0: mlx5_0\n$ exit\n")
    assert (found.gpus, found.domain, found.near_nics) == (2, 2, ("NIC0",))


def test_a_peer_to_peer_matrix_before_the_table_is_passed_over():
    other = " \tGPU0\tGPU1\t\n GPU0\tX\tGNS\t\n GPU1\tGNS\tX\t\n\n"
    assert read_topology(other + table(full(2, "PHB"))).worst_way == "PHB"
    with pytest.raises(UnreadableTextError):
        read_topology(other)


def test_a_header_without_its_leading_tab():
    text = "GPU0\tGPU1\tmlx5_0\tmlx5_1 CPU Affinity NUMA Affinity\n"
    text += "GPU0\t X \tNV4\tSYS\tSYS\t24-31\t3\nGPU1\tNV4\t X \tSYS\tPHB\t16-23\t2\n"
    assert read_topology(text).nics == ("mlx5_0", "mlx5_1")


def test_one_gpu_alone():
    found = read_topology("\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-7\tN/A\n")
    assert (found.gpus, found.domain, found.worst_way) == (1, 1, "X")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no table here",
        "\tGPU0\tGPU1\nGPU0\t X \tNV4\n",
        "\tGPU0\tGPU1\nGPU0\t X \nGPU1\tNV4\t X \n",
        "\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tPHB\t X \n",
        "\tGPU0\tGPU1\nGPU0\tNV4\t X \nGPU1\t X \tNV4\n",
        "\tGPU0\tGPU1\nGPU0\t X \thello\nGPU1\thello\t X \n",
        LEGEND,
    ],
)
def test_what_is_no_whole_table_is_refused(text):
    with pytest.raises(UnreadableTextError):
        read_topology(text)


@pytest.mark.parametrize(
    "text",
    [
        "GPU0 " * 200_000,
        "GPU0 X\n" * 150_000,
        "GPU0 GPU1\n" * 100_000,
        "\t" * 10**6,
        "mlx5_" * 200_000,
        "\x1b[" * 500_000,
    ],
)
def test_a_large_paste_is_read_or_refused_at_once(text):
    began = time.process_time()
    with pytest.raises(UnreadableTextError):
        read_topology(text)
    assert time.process_time() - began < 10


def test_under_a_switch_through_a_cpu_and_across_sockets_are_three_machines():
    """The same two GPUs: PIX has all of PCIe, PHB what an Intel CPU leaves of it, SYS what is between sockets."""
    times = []
    for way in ("PIX", "PHB", "SYS"):
        cluster = seen_cluster(usual_cluster(gpu("l40s"), 2), read_topology(table([["X", way], [way, "X"]])))
        times.append(cluster.group(2).all_reduce_s(2**24))
    assert times == sorted(times)
    assert len(set(times)) == 3


@pytest.mark.parametrize(
    ("beside", "key", "fits"),
    [
        ("GPU 0: NVIDIA L40S (UUID: GPU-1)\nGPU 1: NVIDIA L40S (UUID: GPU-2)\n", "l40s", True),
        ("GPU 0: NVIDIA L40S (UUID: GPU-1)\n", "h100-sxm", False),
        ("GPU 0: Tesla T4 (UUID: GPU-1)\n", "t4", True),
        ("|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |\n", "a100-80gb-sxm", True),
        ("|   0  NVIDIA A100-SXM4-40GB          On  | 00000000:07:00.0 Off |\n", "a100-80gb-sxm", False),
        ("|   0  NVIDIA GeForce RTX 3090 Ti     On  | 00000000:07:00.0 Off |\n", "rtx-3090", True),
        ("|   0  NVIDIA A2                      On  | 00000000:07:00.0 Off |\n", "l4", False),
        ("name, memory.total [MiB]\nNVIDIA L40S, 46068 MiB\n", "h100-sxm", False),
        ("NVIDIA System Management Interface -- v495\nNVIDIA driver 550\n", "h100-sxm", True),
        ("", "h100-sxm", True),
    ],
)
def test_the_name_beside_a_table_is_held_against_the_gpu_that_was_said(beside, key, fits):
    """A plan of an H100 on the links of an L40S is nobody's machine."""
    table = "\tGPU0\tGPU1\nGPU0\t X \tPHB\nGPU1\tPHB\t X \n"
    seen = read_topology(beside + table)
    cluster = usual_cluster(gpu(key), 2)
    if fits:
        assert seen_cluster(cluster, seen).gpus_per_node == 2
    else:
        with pytest.raises(OutOfRangeError, match="name the GPU that the table is of"):
            seen_cluster(cluster, seen)


def test_bridges_are_of_the_gpu_s_own_links():
    """H100 NVL: 12 of NVLink 4's 18, 300 GB/s one way; H200 NVL: all 18; A6000: 4 links of 112.5 GB/s two-way."""
    for key, bonded, beta in (("h100-nvl", 12, 300e9), ("h200-nvl", 18, 450e9), ("a6000", 4, 56.25e9)):
        table = f"\tGPU0\tGPU1\nGPU0\t X \tNV{bonded}\nGPU1\tNV{bonded}\t X \n"
        seen = seen_cluster(usual_cluster(gpu(key), 2), read_topology(table))
        assert seen.link.bandwidth_bytes_per_s == pytest.approx(beta)


TWO_SOCKETS = """\tGPU0\tGPU1\tGPU2\tGPU3
GPU0\t X \tSYS\tPIX\tSYS
GPU1\tSYS\t X \tSYS\tPIX
GPU2\tPIX\tSYS\t X \tSYS
GPU3\tSYS\tPIX\tSYS\t X
"""


def test_which_gpus_go_together_is_said_where_not_all_are_as_near():
    """GPUs 0 and 2 share a switch, 1 and 3 another: pairs in the order of their numbers would cross the sockets."""
    seen = read_topology(TWO_SOCKETS)
    assert engine_gpus(seen, Layout(2, 1, 2)) == ((0, 2), (1, 3))
    assert engine_gpus(seen, Layout(2, 2, 1)) == ((0, 2, 1, 3),)
    told = worded(pairing(seen, Layout(2, 1, 2), gpu("l40s")))
    assert "CUDA_VISIBLE_DEVICES=0,2" in told
    assert "CUDA_VISIBLE_DEVICES=1,3" in told
    assert pairing(seen, Layout(1, 1, 4), gpu("l40s")) is None
    alike = read_topology(TWO_SOCKETS.replace("SYS", "PIX"))
    assert pairing(alike, Layout(2, 1, 2), gpu("l40s")) is None
    assert "HIP_VISIBLE_DEVICES" in worded(pairing(seen, Layout(2, 1, 2), gpu("mi300x")))


def mixed(gpus: int, *ways: tuple[int, str]) -> str:
    """A machine whose neighbours in twos, fours and so on are joined by these ways."""
    return table(
        [
            ["X" if a == b else next(way for size, way in ways if a // size == b // size) for b in range(gpus)]
            for a in range(gpus)
        ]
    )


def test_a_group_is_priced_by_the_way_that_its_own_gpus_are_apart():
    """Two behind a switch, four at a socket, eight over both: each larger group is slower, and the last crosses."""
    cluster = usual_cluster(gpu("l40s"), 8)
    seen = seen_cluster(cluster, read_topology(mixed(8, (2, "PIX"), (4, "NODE"), (8, "SYS"))))
    whole = seen_cluster(cluster, read_topology(mixed(8, (8, "SYS"))))
    assert [size for size, _ in seen.nearer] == [2, 4]
    names = [seen.slowest_link(ranks).name for ranks in (2, 4, 8)]
    assert [name.rpartition(" ")[2] for name in names] == ["x16", "NODE", "SYS"]
    large = 16 * 2**20
    assert seen.group(2).all_reduce_s(large) < 0.7 * whole.group(2).all_reduce_s(large)
    assert seen.group(4).all_reduce_s(large) <= whole.group(4).all_reduce_s(large)  # 5.1 GB/s were timed of four
    assert seen.group(8) == whole.group(8)
    assert seen.hop(2, 0).name.endswith("NODE")
    assert seen.hop(4, 0).name.endswith("SYS")
    told = " ".join(
        worded(one)
        for one in grounds(place(Question(model("llama-3-8b"), seen, measured_budget(seen.gpu), Demand())))
    )
    assert "SYS among 8 GPUs, where they stand nearer PCIe 4 x16 among 2, PCIe 4 x16, NODE among 4." in told


def test_bridged_pairs_meet_the_others_over_the_way_that_the_table_shows():
    """Two bridges on two sockets: what leaves a pair crosses them."""
    cluster = usual_cluster(gpu("a6000"), 4)
    seen = seen_cluster(cluster, read_topology(mixed(4, (2, "NV4"), (4, "SYS"))))
    assert (seen.domain, seen.nearer) == (2, ())
    assert seen.slowest_link(2).family == "nvlink"
    assert seen.slowest_link(4).name.endswith("SYS")


def test_a_way_counts_by_its_smallest_group_and_fewer_gpus_take_the_nearest():
    """Three at one socket and one at the other are no pairs. Of four in pairs, two are a pair."""
    ways = [["X" if a == b else "PIX" if max(a, b) < 3 else "SYS" for b in range(4)] for a in range(4)]
    cluster = usual_cluster(gpu("l40s"), 4)
    assert seen_cluster(cluster, read_topology(table(ways))).nearer == ()
    two = seen_cluster(cluster, read_topology(mixed(4, (2, "PIX"), (4, "SYS"))), 2)
    assert (two.gpus, two.nearer, two.link.name) == (2, (), "PCIe 4 x16")


@pytest.mark.parametrize(
    ("sizes", "kept"),
    [((8,), 8), ((4, 4), 4), ((2, 1), 2), ((2, 2, 1), 2), ((2, 1, 1), 1), ((3, 1), 1), ((4, 4, 4), 4), ((1, 1), 1)],
)
def test_gpus_stay_together_where_each_engine_of_so_many_finds_a_group(sizes, kept):
    assert kept_together(sizes) == kept


def test_a_bridge_between_two_of_three_joins_the_one_pair_that_there_is():
    """Two RTX 3090 with a bridge and a third beside them: TP=2 goes over the bridge."""
    ways = [["X" if a == b else "NV4" if a + b == 1 else "PHB" for b in range(3)] for a in range(3)]
    seen = seen_cluster(usual_cluster(gpu("rtx-3090"), 3), read_topology(table(ways)))
    assert (seen.domain, seen.slowest_link(2).key) == (2, "nvlink-bridge")
    assert seen.slowest_link(3).name.endswith("PHB")
    told = [
        worded(one)
        for one in grounds(place(Question(model("llama-3-8b"), seen, measured_budget(seen.gpu), Demand())))
    ]
    assert "Links: NVLink bridge (A40, A6000, 3090) among 2 GPUs." in told


def test_one_bridge_among_four_joins_no_more_than_the_bus_does():
    """Of two engines of two GPUs one is apart: both are priced as the slower, and no link is named for one GPU."""
    ways = [["X" if a == b else "NV4" if a + b == 1 else "PHB" for b in range(4)] for a in range(4)]
    seen = seen_cluster(usual_cluster(gpu("rtx-3090"), 4), read_topology(table(ways)))
    assert (seen.domain, seen.link.family, seen.link.name[-3:]) == (4, "pcie", "PHB")


def test_a_text_of_several_machines_says_so():
    """Output of two machines in one text: the plan is for one until both are asked for, never for unlike ones."""
    eight, four = table(full(8, "NV18")), table(full(4, "SYS"))
    alike = read_topology(f"node-a:\n{eight}\nnode-b:\n{eight}")
    unlike = read_topology(f"{eight}\n{four}")
    assert (alike.tables, unlike.tables, read_topology(eight).tables) == ((8, 8), (8, 4), (8,))
    one, two = usual_cluster(gpu("h100-sxm"), 8), usual_cluster(gpu("h100-sxm"), 8, 2)
    said = [more_tables(cluster, seen) for cluster in (one, two) for seen in (alike, unlike, read_topology(eight))]
    assert [one and one.code for one in said] == [
        "placement.more_tables",
        "placement.unlike_tables",
        None,
        None,
        "placement.unlike_tables",
        None,
    ]
    assert worded(said[0]).startswith("The text holds 2 tables like this one, and the plan is for 1 machine with 8")
    prefixed = "".join(f"gpu{host}: {line}\n" for host in range(4) for line in eight.splitlines())
    assert read_topology(prefixed).tables == (8, 8, 8, 8)
