CREATE TABLE houses (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE seats (
    id integer PRIMARY KEY,
    house_id integer NOT NULL REFERENCES houses (id),
    label text NOT NULL
);
CREATE VIEW seat_plan AS SELECT houses.name, seats.label FROM seats JOIN houses ON houses.id = seats.house_id;
