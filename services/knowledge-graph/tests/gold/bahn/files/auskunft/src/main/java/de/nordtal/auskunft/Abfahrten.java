package de.nordtal.auskunft;

import de.nordtal.fahrplan.FahrplanClient;
import java.util.List;

/** Fragt den Fahrplandienst nach den Abfahrten eines Bahnhofs. */
public class Abfahrten {
    private final FahrplanClient client = new FahrplanClient("http://fahrplandienst:8080");

    public List<String> naechste(String bahnhof) {
        return client.abfahrten(bahnhof);
    }
}
