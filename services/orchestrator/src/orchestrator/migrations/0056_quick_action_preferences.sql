-- Whether the model reads what memory knows of the style of whoever uses a quick action.
ALTER TABLE quick_action ADD COLUMN use_preferences boolean NOT NULL DEFAULT true;
