-- shop-catalogue
CREATE TABLE item (item_id int PRIMARY KEY, title text);
CREATE TABLE price (item_id int REFERENCES item, cents int);
CREATE OR REPLACE VIEW cheap_item AS SELECT i.title FROM item i JOIN price p USING (item_id) WHERE p.cents < 100;
CREATE FUNCTION raise_price(factor numeric) RETURNS void LANGUAGE sql AS $$
  UPDATE price SET cents = cents * factor;
$$;
