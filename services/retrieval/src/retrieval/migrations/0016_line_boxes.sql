-- The boxes of a chunk's lines: of each its page, its four sides in tenths of a point, and where in the text it is.
ALTER TABLE chunk ADD COLUMN lines integer[];

-- Packs boxes as the contracts have them; nothing if there are none.
CREATE FUNCTION packed_lines(boxes json) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
    SELECT array_agg(round(value)::integer ORDER BY line, place)
    FROM json_array_elements(boxes) WITH ORDINALITY AS lines (one, line),
         unnest(ARRAY[(one ->> 'page')::numeric, 10 * (one -> 'box' ->> 0)::numeric, 10 * (one -> 'box' ->> 1)::numeric,
                      10 * (one -> 'box' ->> 2)::numeric, 10 * (one -> 'box' ->> 3)::numeric,
                      (one ->> 'start')::numeric, (one ->> 'end')::numeric]) WITH ORDINALITY AS numbers (value, place)
$$;

-- Unpacks them.
CREATE FUNCTION line_boxes(lines integer[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object(
               'page', lines[at],
               'box', jsonb_build_array(lines[at + 1] / 10.0, lines[at + 2] / 10.0, lines[at + 3] / 10.0,
                                        lines[at + 4] / 10.0),
               'start', lines[at + 5], 'end', lines[at + 6]) ORDER BY at), '[]')
    FROM generate_series(1, coalesce(cardinality(lines), 0), 7) AS at
$$;
