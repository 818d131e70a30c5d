"""How a document's rows get into the provenance tables, and what follows from them."""
