from knowledge_graph.expansion.partial_names import content_words, parts_of, share_a_word


def test_beginnings_and_endings_of_a_name_are_its_short_forms_longest_first():
    assert parts_of("Maratha Peshwa Baji Rao II", "PERSON") == [
        ["peshwabajiraoii", "marathapeshwabajirao"],
        ["bajiraoii", "marathapeshwabaji"],
        ["raoii", "marathapeshwa"],
    ]
    assert parts_of("Maharashtra state", "ORG") == [["maharashtra"]]
    assert parts_of("D. Ross Lederman", "PERSON") == [["rosslederman", "dross"], ["lederman"]]
    assert parts_of("Paul Bradley", "PERSON") == [["bradley"]]
    assert parts_of("Mongkut", "PERSON") == []
    assert parts_of("One Two Three Four Five Six Seven Eight Nine", "ORG") == []


def test_words_match_regardless_of_their_inflection():
    assert share_a_word(content_words("was directed by DIRECT"), content_words("who is the director of"))
    assert share_a_word(content_words("mother MOTHER_OF"), content_words("when did mother die?"))
    assert not share_a_word(content_words("starring STAR"), content_words("who is the director of"))
    assert not share_a_word(content_words("was in"), content_words("who was in the house"))
