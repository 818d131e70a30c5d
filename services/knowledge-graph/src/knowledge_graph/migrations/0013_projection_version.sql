-- The number grows with each projected change: readers compare it before and after their questions.
ALTER TABLE projection_state RENAME COLUMN drawn TO version;
