"""How another device reaches the server: by the address of the visit, or by the machine's own; or not at all."""

import ipaddress

import pytest

from runtime import reach


@pytest.fixture(autouse=True)
def on_a_laptop(monkeypatch):
    """A machine of two networks, outside of any container."""
    monkeypatch.setattr(reach, "addresses", lambda: ["192.168.1.7", "10.0.0.5"])
    monkeypatch.setattr(reach, "_IN_A_CONTAINER", ())


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "shardlab.localhost", "0.0.0.0"])
def test_an_address_that_every_machine_has_is_replaced_by_the_machines_own(host):
    roots = reach.roots_for_others(f"http://{host}:8501/comm_cost?bill_scene=question#top", None)
    assert roots == ["http://192.168.1.7:8501/", "http://10.0.0.5:8501/"]


@pytest.mark.parametrize(
    ("url", "root"),
    [
        ("https://shardlab.example.org/comm_cost?room=X", "https://shardlab.example.org/"),
        ("http://192.168.1.7:8501/", "http://192.168.1.7:8501/"),
        ("https://example.org/course/comm_cost", "https://example.org/course/"),
        ("http://lectern.local:8501/comm_cost", "http://lectern.local:8501/"),
    ],
)
def test_an_address_that_others_reach_stays(url, root):
    assert reach.roots_for_others(url, "127.0.0.1") == [root], "behind a proxy a server may listen to it alone"


@pytest.mark.parametrize("listens_to", ["127.0.0.1", "localhost", "::1"])
def test_nobody_comes_where_the_server_listens_to_its_own_machine(listens_to):
    assert reach.roots_for_others("http://localhost:8501/", listens_to) == []


@pytest.mark.parametrize("listens_to", ["", None, "0.0.0.0", "::", "192.168.1.7"])
def test_a_server_that_listens_to_its_networks_is_offered(listens_to):
    assert reach.roots_for_others("http://localhost:8501/", listens_to)


def test_the_own_address_of_a_container_is_nobodys(monkeypatch, tmp_path):
    monkeypatch.setattr(reach, "_IN_A_CONTAINER", (tmp_path,))
    assert reach.roots_for_others("http://localhost:8501/", None) == []


def test_a_machines_addresses_are_each_one_of_a_network(monkeypatch):
    monkeypatch.undo()
    found = [ipaddress.ip_address(one) for one in reach.addresses()]
    assert len(set(found)) == len(found)
    assert not [one for one in found if one.is_loopback or one.is_unspecified or one.is_link_local]
