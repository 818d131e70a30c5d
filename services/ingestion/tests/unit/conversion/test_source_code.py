"""Chunks of source code are split at definitions and name the enclosing ones, in each language."""

from __future__ import annotations

import pytest

from ingestion.conversion.passages import TokenBudget, token_budget
from ingestion.conversion.source_code import code_passages
from ingestion.conversion.values import ChunkOptions

JAVA = """package org.example.cache;

import java.util.LinkedHashMap;
import java.util.Map;

/** Evicts the entry that was read least recently. */
public final class LruCache<K, V> extends LinkedHashMap<K, V> {
    private final int capacity;

    public LruCache(int capacity) {
        super(capacity, 0.75f, true);
        this.capacity = capacity;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > capacity;
    }

    enum Policy {
        LRU, FIFO;

        Policy inverse() {
            return this == LRU ? FIFO : LRU;
        }
    }
}

record Hit(String key, long at) {
}
"""
GO = """package stack

import "errors"

// ErrEmpty is returned by Pop.
var ErrEmpty = errors.New("empty")

// Stack is a last-in, first-out list.
type Stack[T any] struct {
	items []T
}

// Push adds an item.
func (s *Stack[T]) Push(item T) {
	s.items = append(s.items, item)
}

func (s Stack[T]) Len() int { return len(s.items) }

func New[T any]() *Stack[T] {
	return &Stack[T]{}
}
"""
RUST = """use std::fmt;

/// A point on the plane.
#[derive(Clone, Debug)]
pub struct Point {
    x: f64,
    y: f64,
}

impl Point {
    pub fn norm(&self) -> f64 {
        (self.x * self.x + self.y * self.y).sqrt()
    }

    pub fn scale(&mut self, by: f64) {
        self.x *= by;
        self.y *= by;
    }
}

impl Display for Point {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

mod metrics {
    pub trait Metric {
        fn distance(&self, other: &Self) -> f64;
    }
}
"""
CPP = """#ifndef GEOMETRY_SHAPE_H
#define GEOMETRY_SHAPE_H

#include <vector>

namespace geometry {

class Shape;

// Anything with an area.
class Shape {
 public:
  virtual ~Shape() = default;
  virtual double area() const {
    return 0.0;
  }
};

template <typename T>
T clamp(T value, T low, T high) {
  return value < low ? low : value > high ? high : value;
}

double &Matrix::at(int row, int column) {
  return cells[row * width + column];
}

bool operator==(const Shape &a, const Shape &b) {
  return a.area() == b.area();
}

}  // namespace geometry

#endif
"""
C_SHARP = """using System.Collections.Generic;

namespace Shop
{
    /// <summary>Takes orders.</summary>
    [Serializable]
    public class Orders : Taker
    {
        private readonly List<Order> orders = new();

        public Orders(IClock clock)
        {
            this.clock = clock;
        }

        public void Place(Order order)
        {
            orders.Add(order);
        }
    }

    public interface Taker { void Place(Order order); }

    public record Order(string Id, decimal Total);
}
"""
C_HEADER = """#ifndef RING_H
#define RING_H

struct ring {
	int head, tail;
};

typedef struct ring ring_t;

static inline int ring_size(const struct ring *r)
{
	return r->head - r->tail;
}

#endif
"""


@pytest.fixture(scope="module")
def budget() -> TokenBudget:
    return token_budget(ChunkOptions(max_tokens=56))


@pytest.mark.parametrize(
    ("source", "extension", "paths"),
    [
        (
            JAVA,
            "java",
            ["", "LruCache", "LruCache.LruCache", "LruCache.removeEldestEntry", "LruCache.Policy", "Hit"],
        ),
        (GO, "go", ["", "Stack", "Stack.Push", "Stack.Len", "New"]),
        (
            RUST,
            "rs",
            ["", "Point", "Point.norm", "Point.scale", "Display for Point", "Display for Point.fmt", "metrics"],
        ),
        (
            CPP,
            "hpp",
            ["", "geometry", "geometry.Shape", "geometry.clamp", "geometry.Matrix::at", "geometry.operator=="],
        ),
        (
            C_SHARP,
            "cs",
            [
                "",
                "Shop",
                "Shop.Orders",
                "Shop.Orders.Orders",
                "Shop.Orders.Place",
                "Shop.Taker",
                "Shop.Order",
            ],
        ),
        (C_HEADER, "h", ["", "ring", "ring_t", "ring_size"]),
    ],
)
def test_a_file_is_split_at_its_definitions(source: str, extension: str, paths: list[str], budget: TokenBudget) -> None:
    passages = code_passages(source, extension, budget)
    found = [".".join(passage.heading_path) for passage in passages]
    assert list(dict.fromkeys(found)) == paths
    lines = source.split("\n")
    for passage in passages:
        assert passage.line_start is not None
        assert passage.line_end is not None
        assert passage.content == "\n".join(lines[passage.line_start - 1 : passage.line_end])
    assert "".join("".join(passage.content.split()) for passage in passages) == "".join(source.split())


def test_a_comment_stays_with_its_definition(budget: TokenBudget) -> None:
    found = {passage.heading_path: passage.content for passage in code_passages(GO, "go", budget)}
    assert found["Stack.Push",].startswith("// Push adds an item.\nfunc (s *Stack[T]) Push")


def test_nested_preprocessor_conditions_do_not_overflow_the_stack(budget: TokenBudget) -> None:
    depth = 3000
    source = "#ifdef A\n" * depth + "int deep(void) { return 1; }\n" + "#endif\n" * depth
    assert any(passage.heading_path == ("deep",) for passage in code_passages(source, "c", budget))
