-- CatalogueDB. Reading Room is the only writer.

CREATE TABLE title (title_id bigint PRIMARY KEY, name text NOT NULL);
CREATE TABLE copy (copy_id bigint PRIMARY KEY, title_id bigint NOT NULL REFERENCES title (title_id));
CREATE TABLE loan (loan_id bigint PRIMARY KEY, copy_id bigint NOT NULL REFERENCES copy (copy_id));
CREATE VIEW overdue AS SELECT loan.loan_id FROM loan JOIN copy ON copy.copy_id = loan.copy_id;
