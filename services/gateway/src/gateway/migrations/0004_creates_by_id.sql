-- An Idempotency-Key now fixes the id of what is created; answers need no table.
DROP TABLE idempotent_create;
