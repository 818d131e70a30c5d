"""LanceDB (hybrid, its own reciprocal rank fusion) and Chroma (dense) on a folder's data, without our code.

COMPARE_PYTHON other_stores.py FOLDER   reads texts.jsonl, vectors.npy, queries.json, queries.npy; prints JSON:
by store and mode the seconds of each query, the row numbers of its first ten hits, and the loading time
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

TOP, BATCH = 10, 5000
INDEX_FROM = 5000  # rows; fewer are searched by brute force, as LanceDB recommends


def texts(folder):
    with open(folder / "texts.jsonl", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def lance(folder, place, vectors, queries, query_vectors):
    import lancedb  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415
    from lancedb.index import FTS, HnswSq  # noqa: PLC0415

    def batches():
        rows, at = [], 0
        for text in texts(folder):
            rows.append(text)
            if len(rows) == BATCH or at + len(rows) == len(vectors):
                part = np.asarray(vectors[at : at + len(rows)], np.float32)
                flat = pa.FixedSizeListArray.from_arrays(pa.array(part.ravel()), part.shape[1])
                numbers = pa.array(range(at, at + len(rows)), pa.int64())
                yield pa.RecordBatch.from_arrays([numbers, pa.array(rows), flat], names=["number", "text", "vector"])
                at, rows = at + len(rows), []

    began = time.perf_counter()
    schema = pa.schema(
        [("number", pa.int64()), ("text", pa.string()), ("vector", pa.list_(pa.float32(), vectors.shape[1]))]
    )
    table = lancedb.connect(str(place / "lance")).create_table("chunks", batches(), schema=schema)
    if len(vectors) >= INDEX_FROM:
        table.create_index("vector", config=HnswSq(distance_type="cosine"))
    table.create_index("text", config=FTS())
    loading = time.perf_counter() - began

    def hybrid(text, vector):
        words = "".join(letter if letter.isalnum() else " " for letter in text)
        return table.search(query_type="hybrid").vector(vector).text(words).distance_type("cosine").limit(TOP).to_list()

    def dense(_, vector):
        return table.search(vector, vector_column_name="vector").distance_type("cosine").limit(TOP).to_list()

    def found(search):
        return lambda text, vector: [row["number"] for row in search(text, vector)]

    answers = {"hybrid": found(hybrid), "dense": found(dense)}
    return measured(answers, queries, query_vectors) | {"loading": loading}


def chroma(folder, place, vectors, queries, query_vectors):
    import chromadb  # noqa: PLC0415

    settings = chromadb.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(place / "chroma"), settings=settings)
    collection = client.create_collection("chunks", metadata={"hnsw:space": "cosine"}, embedding_function=None)
    began, documents = time.perf_counter(), texts(folder)
    for start in range(0, len(vectors), BATCH):
        part = np.asarray(vectors[start : start + BATCH], np.float32)
        ids = [str(number) for number in range(start, start + len(part))]
        collection.add(ids=ids, embeddings=part, documents=[next(documents) for _ in ids])
    loading = time.perf_counter() - began

    def dense(_, vector):
        found = collection.query(query_embeddings=[vector], n_results=TOP, include=["documents", "distances"])
        return [int(one) for one in found["ids"][0]]

    return measured({"dense": dense}, queries, query_vectors) | {"loading": loading}


def measured(answers, queries, query_vectors):
    figures = {}
    for name, answer in answers.items():
        for text, vector in list(zip(queries, query_vectors))[:20]:  # noqa: B905 - any Python that the stores run on
            answer(text, vector)
        seconds, hits = [], []
        for text, vector in zip(queries, query_vectors):  # noqa: B905
            began = time.perf_counter()
            hits.append(answer(text, vector))
            seconds.append(time.perf_counter() - began)
        figures[name] = {"seconds": seconds, "hits": hits}
    return figures


def main(folder):
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    queries = json.loads((folder / "queries.json").read_text("utf-8"))
    query_vectors = np.load(folder / "queries.npy")
    result = {}
    for name, store in (("lancedb", lance), ("chroma", chroma)):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            result[name] = store(folder, Path(place), vectors, queries, query_vectors)
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
