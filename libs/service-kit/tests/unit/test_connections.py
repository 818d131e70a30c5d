"""Which connections are admitted, and which make room for others."""

from service_kit.connections import Connections


class Client:
    def __init__(self, connections):
        self.connections, self.is_closed = connections, False

    def make_room(self):
        self.is_closed = True
        self.connections.remove(self)


def admitted(connections, address, count):
    clients = [Client(connections) for _ in range(count)]
    return clients, [connections.admit(client, address) for client in clients]


def test_the_longest_idle_connection_is_closed_to_make_room():
    connections = Connections(3)
    clients, answers = admitted(connections, "10.0.0.1", 5)
    assert answers == [True] * 5
    assert [client.is_closed for client in clients] == [True, True, False, False, False]
    assert len(connections.address_of) == 3


def test_a_connection_serving_a_request_is_never_closed_for_another():
    connections = Connections(2)
    busy, _ = admitted(connections, "10.0.0.1", 2)
    for client in busy:
        connections.begins(client)
    assert admitted(connections, "10.0.0.2", 1)[1] == [False]
    connections.waits(busy[1])
    assert admitted(connections, "10.0.0.2", 1)[1] == [True]
    assert [client.is_closed for client in busy] == [False, True]


def test_an_address_at_its_limit_takes_no_connection_from_others():
    connections = Connections(100, per_address=3)
    other, _ = admitted(connections, "10.0.0.2", 3)
    greedy, answers = admitted(connections, "10.0.0.1", 50)
    assert answers == [True] * 50
    assert sum(not client.is_closed for client in greedy) == 3
    assert not any(client.is_closed for client in other)


def test_an_address_whose_connections_are_all_busy_is_refused():
    connections = Connections(100, per_address=2)
    for client in admitted(connections, "10.0.0.1", 2)[0]:
        connections.begins(client)
    assert admitted(connections, "10.0.0.1", 1)[1] == [False]
    assert admitted(connections, "10.0.0.2", 1)[1] == [True]


def test_a_trusted_proxy_has_no_limit_per_address():
    connections = Connections(100, per_address=2, is_shared=lambda address: address == "127.0.0.1")
    assert not any(client.is_closed for client in admitted(connections, "127.0.0.1", 50)[0])


def test_closed_connections_leave_no_state_behind():
    connections = Connections(10, per_address=5)
    clients, _ = admitted(connections, "10.0.0.1", 5)
    for client in clients:
        connections.begins(client)
        connections.waits(client)
        connections.remove(client)
        connections.waits(client)
    assert not connections.address_of
    assert not connections.addresses
    assert not connections.waiting
