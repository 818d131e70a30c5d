"""Distances between stops, asked of Road Graph."""

import httpx
import networkx


def matrix(stops: list[str]) -> list[list[int]]:
    answer = httpx.post("http://road-graph:7000/matrix", json=stops).json()
    return networkx.floyd_warshall_numpy(answer).tolist()
