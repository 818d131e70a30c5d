-- What the gateway signed for the services that a run asks for its user. It lasts an hour, is of use to nobody without one
-- of their keys, and is deleted when the run ends.
ALTER TABLE run ADD COLUMN delegation text;
