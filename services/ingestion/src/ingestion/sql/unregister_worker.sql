DELETE FROM worker WHERE id = %(id)s
