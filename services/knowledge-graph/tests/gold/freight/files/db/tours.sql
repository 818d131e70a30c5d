-- Schema of tour-db (Tour Planner)
CREATE TABLE vehicle (id int PRIMARY KEY, plate text NOT NULL);
CREATE TABLE tour (
  id int PRIMARY KEY,
  vehicle_id int NOT NULL REFERENCES vehicle (id),
  day date NOT NULL
);
CREATE TABLE stop (
  id int PRIMARY KEY,
  tour_id int NOT NULL,
  FOREIGN KEY (tour_id) REFERENCES tour (id)
);
CREATE VIEW open_stop AS SELECT s.id, t.day FROM stop s JOIN tour t ON t.id = s.tour_id;
