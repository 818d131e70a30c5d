from ingestion.conversion.pdf.pipeline import bundled_options


def test_a_long_pdf_is_not_read_far_ahead_of_its_layout() -> None:
    """200 dense pages took 2.1 GB, and failed, with the 100 pages for each stage that docling takes by itself."""
    assert bundled_options(every_page_is_scanned=False, threads=1).queue_max_size <= 8
