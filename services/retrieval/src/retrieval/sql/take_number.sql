SELECT nextval('document_number')
