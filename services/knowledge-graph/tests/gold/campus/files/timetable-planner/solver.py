"""Places lectures in rooms: the core of the Timetable Planner."""

import ortools
import psycopg

from rooms import free_rooms

REGISTRY = "http://person-registry:8080"
