-- name: find
SELECT {columns} FROM book WHERE workspace_id = %(workspace_id)s AND id = %(id)s;

-- name: page
SELECT {columns} FROM book WHERE workspace_id = %(workspace_id)s ORDER BY id;

-- name: add
INSERT INTO book (workspace_id, id, title) VALUES (%(workspace_id)s, %(id)s, %(title)s);

-- name: rename
UPDATE book SET title = %(title)s WHERE workspace_id = %(workspace_id)s;

-- name: count
-- Returns the number of books, of all workspaces in a system transaction.
SELECT count(*) FROM book;
