"""Finds the order of stops."""

from ortools.constraint_solver import pywrapcp

from routing.distances import matrix


def solve(stops: list[str]) -> list[int]:
    manager = pywrapcp.RoutingIndexManager(len(stops), 1, 0)
    return [matrix(stops)[place][0] for place in range(manager.GetNumberOfNodes())]
