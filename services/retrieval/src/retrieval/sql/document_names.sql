-- Those that may have what is asked of their titles and names: all its terms by the rules of the document's language, and
-- in any order, and what is asked as it is written, which of other letters than ASCII is not seen here.
SELECT number, chunk_count, name, title, stemming, name_terms IS NOT NULL AS analysed
FROM indexed_document AS document
CROSS JOIN LATERAL (SELECT coalesce(title, name) AS titled) AS shown
WHERE workspace_id = %(workspace_id)s AND (%(numbers)s::bigint[] IS NULL OR number = ANY (%(numbers)s::bigint[]))
  AND EXISTS (
        SELECT FROM unnest(%(stemmings)s::text[], %(of_title)s::text[], %(of_name)s::text[])
             AS asked (stemming, of_title, of_name)
        WHERE asked.stemming = document.stemming
          AND coalesce(CASE WHEN title IS NULL THEN name_terms ELSE title_terms END @> asked.of_title::text[], true)
          AND coalesce(name_terms @> asked.of_name::text[], true))
  AND NOT EXISTS (
        SELECT FROM unnest(%(beginnings_of_title)s::text[]) AS beginning
        WHERE strpos(lower(titled), beginning) = 0 AND octet_length(titled) = length(titled))
  AND NOT EXISTS (
        SELECT FROM unnest(%(beginnings_of_name)s::text[]) AS beginning
        WHERE strpos(lower(name), beginning) = 0 AND octet_length(name) = length(name))
