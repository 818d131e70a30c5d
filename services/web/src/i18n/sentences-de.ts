// What the API says in sentences without a type, in German: what an answer went without, why a sentence is doubted, what
// a run did, why a file was refused. More precise ones come first.
import type { Sentence } from './sentences';

const ISSUES: readonly Sentence[] = [
  [
    'no chat model is configured that could write the document; its subject was looked up instead',
    'Kein Sprachmodell ist eingerichtet, das den Text schreiben könnte; stattdessen wurde sein Thema nachgeschlagen',
  ],
  [
    'the documents were searched by the message as it is: {}',
    'Die Dokumente wurden mit der Nachricht durchsucht, wie sie ist: {}',
  ],
  [
    'an artifact is written from the documents of its own workspace alone, so no other one was searched',
    'Ein Artefakt entsteht nur aus den Dokumenten seines eigenen Arbeitsbereichs; andere wurden nicht durchsucht',
  ],
  ['{} could not be searched yet: still being read', 'Noch nicht durchsuchbar, weil noch in Arbeit: {}'],
  ['what was done is told by a fixed text: {}', 'Was getan wurde, sagt ein fester Text: {}'],
  [
    'the edits of the artifact did not fit, so it was rewritten: {}',
    'Die einzelnen Änderungen passten nicht zum Artefakt, deshalb wurde es neu geschrieben: {}',
  ],
  ['the artifact was not changed: {}', 'Das Artefakt wurde nicht geändert: {}'],
  ['the artifact was cut short: {}', 'Das Artefakt bricht vorzeitig ab: {}'],
  [
    'the artifact is too long for the chat model: it saw {} of {} parts whole, the others by first lines',
    'Das Artefakt ist zu lang für das Sprachmodell: {} von {} Teilen sah es ganz, von den anderen nur den Anfang',
  ],
  [
    'the artifact is too long for the chat model to read at once: it was rewritten in {} sections',
    'Das Artefakt ist zu lang für das Sprachmodell: es wurde in {} Abschnitten neu geschrieben',
  ],
  ['nothing was learned from this turn: {}', 'Aus diesem Austausch wurde nichts gelernt: {}'],
  [
    'the chat model broke off, so the answer is incomplete: {}',
    'Das Sprachmodell brach ab, deshalb ist die Antwort unvollständig: {}',
  ],
  [
    'the chat model reached the limit of its tokens, so the answer is incomplete',
    'Das Sprachmodell hat die Grenze seiner Token erreicht, deshalb ist die Antwort unvollständig',
  ],
  [
    'the chat model failed, so the answer quotes the documents instead: {}',
    'Das Sprachmodell hat nicht geantwortet, deshalb zitiert die Antwort die Dokumente: {}',
  ],
  [
    'the chat model gave no answer, so the answer quotes the documents instead',
    'Das Sprachmodell hat nichts geschrieben, deshalb zitiert die Antwort die Dokumente',
  ],
  [
    'the answer was written without the images of the conversation: {}',
    'Die Antwort entstand ohne die Bilder des Gesprächs: {}',
  ],
  ['earlier messages were not condensed: {}', 'Frühere Nachrichten wurden nicht zusammengefasst: {}'],
  ['no model saw the images: {}', 'Kein Modell hat die Bilder gesehen: {}'],
  ['no model is configured for the role `vision`', 'für die Aufgabe „Sieht Bilder an“ ist kein Modell eingerichtet'],
  ['whether the images are documents is not known: {}', 'Ob die Bilder Dokumente sind, ist nicht bekannt: {}'],
  [
    'the message was answered, as its wish could not be read: {}',
    'Die Nachricht wurde beantwortet, weil nicht zu erkennen war, was sie ändern soll: {}',
  ],
  [
    'the message was answered, as no route was chosen: {}',
    'Die Nachricht wurde beantwortet, weil nicht zu erkennen war, was sie sonst verlangt: {}',
  ],
  ['the session is named after its question: {}', 'Das Gespräch ist nach seiner Frage benannt: {}'],
  ['the sentences were checked by rules alone: {}', 'Die Sätze wurden nur nach Regeln geprüft: {}'],
  [
    'what the sources contradict was not rewritten: {}',
    'Was den Quellen widerspricht, wurde nicht neu geschrieben: {}',
  ],
  [
    'what is in another language was compared by names and numbers alone: {}',
    'Was in einer anderen Sprache ist, wurde nur nach Namen und Zahlen verglichen: {}',
  ],
  [
    "memory did not tell the user's profile within {} s",
    'Das Gedächtnis hat dein Profil nicht innerhalb von {} s genannt',
  ],
  ['{} of {} is not asked: {}', '{} bei {} wird nicht gefragt: {}'],
  ['{} failed, so {} is asked: {}', '{} hat nicht geantwortet, deshalb wird {} gefragt: {}'],
  [
    '{} cut the prompt in silence: about {} tokens were sent, and it read {}',
    '{} hat die Anfrage gekürzt, ohne es zu sagen: etwa {} Token wurden gesendet, und gelesen hat es {}',
  ],
  ['{} % of {} are used or reserved', 'Verbraucht oder reserviert sind {} % von {}'],
  ['{}, until {}', '{}, bis {}'],
  ['all of {} are used', 'verbraucht sind alle {}'],
  ['the {} tokens of the {} a day', '{} Token am Tag für {}'],
  ['the {} tokens of the {}', '{} Token für {}'],
  ['run', 'den Lauf'],
  ['user', 'die Person'],
  ['key', 'den Schlüssel'],
  ['workspace', 'den Arbeitsbereich'],
  ['attempt {} failed: {}', 'Versuch {} ist fehlgeschlagen: {}'],
];

/** Why a model or a service did not do its part. */
const CAUSES: readonly Sentence[] = [
  ['the chat model took too long', 'das Sprachmodell brauchte zu lange'],
  ['the model took too long', 'das Modell brauchte zu lange'],
  ['it reached its limit of tokens', 'es hat die Grenze seiner Token erreicht'],
  ['the chat model wrote nothing', 'das Sprachmodell hat nichts geschrieben'],
  ['it wrote what was there before', 'es hat geschrieben, was schon da war'],
  ["The model's provider is not available: {}", 'der Anbieter des Modells ist nicht erreichbar: {}'],
  ["The model's provider is not available", 'der Anbieter des Modells ist nicht erreichbar'],
  ["The model's provider did not reply in time: {}", 'der Anbieter des Modells hat nicht rechtzeitig geantwortet ({})'],
  ["The model's provider rejected the request: {}", 'der Anbieter des Modells hat die Anfrage abgelehnt: {}'],
  ["The text is longer than the model's context: {}", 'der Text ist länger, als das Modell lesen kann: {}'],
  [
    "The provider's reply does not have the form of its API: {}",
    'die Antwort des Anbieters hat nicht die Form seiner Schnittstelle: {}',
  ],
  [
    "The model's provider failed repeatedly and is not called for a while.",
    'der Anbieter des Modells hat mehrmals nicht geantwortet und wird eine Weile nicht gefragt',
  ],
  ['The model answered without a word.', 'das Modell hat nichts geschrieben'],
  ["The model's answer ended before it was complete.", 'die Antwort des Modells endete, bevor sie vollständig war'],
  [
    "The model's answer ended before it was complete: {}",
    'die Antwort des Modells endete, bevor sie vollständig war: {}',
  ],
  ['The model is not called: {}', 'das Modell wird nicht gefragt: {}'],
  ['The model cannot do what is asked: {}', 'das Modell kann das nicht: {}'],
  ['this deployment has no {}', 'hier gibt es {} nicht'],
  ['{} did not answer within {} s', '{} hat nicht innerhalb von {} s geantwortet'],
  ['{} did not answer in time', '{} hat nicht rechtzeitig geantwortet'],
  ['{} cannot be reached ({})', '{} ist nicht erreichbar ({})'],
  ['{} cannot be reached', '{} ist nicht erreichbar'],
  ['{} answered with status {}', '{} hat mit dem Status {} geantwortet'],
  ['{} gave an answer that cannot be read', '{} hat unlesbar geantwortet'],
];

/** Why a sentence of an answer is doubted. */
const DOUBTS: readonly Sentence[] = [
  [
    '{}, but an entailment model finds that it says otherwise',
    '{}; ein Modell, das Sätze vergleicht, findet das Gegenteil',
  ],
  ['{}, but an entailment model finds that it says so', '{}; ein Modell, das Sätze vergleicht, findet sie bestätigt'],
  ['{}; another one may', '{}; eine andere sagt es vielleicht'],
  [
    'the source says otherwise, by an entailment model',
    'die Quelle sagt es anders, findet ein Modell, das Sätze vergleicht',
  ],
  [
    'the source says so in other words, by an entailment model',
    'die Quelle sagt es mit anderen Worten, findet ein Modell, das Sätze vergleicht',
  ],
  ['the source says so word for word', 'die Quelle sagt es wörtlich so'],
  ['the source says so', 'die Quelle sagt es so'],
  ['the sources say so together', 'die Quellen zusammen sagen es so'],
  [
    'the table says so, read with the names of its columns',
    'die Tabelle sagt es so, mit den Namen ihrer Spalten gelesen',
  ],
  [
    'it is in another language than its source: names and numbers alone were compared',
    'er ist in einer anderen Sprache als seine Quelle: nur Namen und Zahlen wurden verglichen',
  ],
  [
    'it is in another language than its source: by a multilingual encoder it is close to what is cited',
    'er ist in einer anderen Sprache als seine Quelle: nach einem mehrsprachigen Modell ist er dem Zitierten ähnlich',
  ],
  [
    'it is in another language than its source: a multilingual encoder finds nothing there that is close to it',
    'er ist in einer anderen Sprache als seine Quelle: ein mehrsprachiges Modell findet dort nichts Ähnliches',
  ],
  ['the run ended before it was checked', 'der Lauf endete, bevor er geprüft wurde'],
  ['nothing that was retrieved says it', 'nichts von dem, was gefunden wurde, sagt es'],
  ['it is too long to be compared', 'er ist zu lang, um verglichen zu werden'],
  ['it says too little to tell what it rests on', 'er sagt zu wenig, um zu erkennen, worauf er beruht'],
  ['nothing to compare', 'nichts zu vergleichen'],
  ['too little in common', 'zu wenig gemeinsam'],
  ['a number is not in the source', 'eine Zahl steht nicht in der Quelle'],
  ['the source does not say “{}” there', 'die Quelle sagt dort nicht „{}“'],
  ['the source does not say “{}”', 'die Quelle sagt nicht „{}“'],
  ['the source does not have the number {}', 'die Quelle enthält die Zahl {} nicht'],
  ['the source does not name “{}”', 'die Quelle nennt „{}“ nicht'],
  ['the source says “{}” of something else', 'die Quelle sagt „{}“ von etwas anderem'],
  ['it says “{}” where the source says “{}”', 'er sagt „{}“, wo die Quelle „{}“ sagt'],
  ['around “{}” the source has the words the other way round', 'um „{}“ stehen die Wörter in der Quelle umgekehrt'],
  ['the source says it the other way round: “{}”', 'die Quelle sagt es umgekehrt: „{}“'],
  ['the numbers have changed places', 'die Zahlen sind vertauscht'],
];

/** What a run did. */
const STEPS: readonly Sentence[] = [
  [
    'Wrote the answer with the chat model, without a search',
    'Die Antwort mit dem Sprachmodell geschrieben, ohne zu suchen',
  ],
  ['Wrote the answer with the chat model', 'Die Antwort mit dem Sprachmodell geschrieben'],
  ['Answered without a chat model', 'Ohne Sprachmodell geantwortet'],
  ['Found {} chunks in {} documents', '{} Stellen in {} Dokumenten gefunden'],
  ['Found nothing relevant', 'Nichts Passendes gefunden'],
  ['The search failed', 'Die Suche ist fehlgeschlagen'],
  ['Was asked to answer without the documents', 'Sollte ohne die Dokumente antworten'],
  ['Checked the answer: {} citations hold; sentences: {}', 'Die Antwort geprüft: {} Belege gelten; Sätze: {}'],
  ['Condensed {} earlier messages', '{} frühere Nachrichten zusammengefasst'],
  ['Named the session', 'Das Gespräch benannt'],
  ['Learned of {} wishes or facts', 'Von {} Wünschen oder Fakten gelernt'],
  ['Decided to search the documents', 'Entschieden, die Dokumente zu durchsuchen'],
  ['Decided to answer without a search', 'Entschieden, ohne Suche zu antworten'],
  ['Decided to look at the images', 'Entschieden, die Bilder anzusehen'],
  ['Decided to open the world state', 'Entschieden, den Weltzustand zu öffnen'],
  ['Looked into the world state', 'Den Weltzustand angesehen'],
  ['Prepared a change of the world state', 'Eine Änderung des Weltzustands vorbereitet'],
  [
    'Looked at the images with the model of the role vision, without a search',
    'Die Bilder mit dem Modell dafür angesehen, ohne zu suchen',
  ],
  ['Said that no model sees the images', 'Gesagt, dass kein Modell die Bilder sieht'],
  [
    'Took the text that was recognised in the image, as no model sees it',
    'Den im Bild erkannten Text genommen, weil kein Modell es sieht',
  ],
  ['Told what was done', 'Gesagt, was getan wurde'],
  ['Changed nothing in the artifact', 'Am Artefakt nichts geändert'],
  ['Wrote {} characters of the artifact', '{} Zeichen des Artefakts geschrieben'],
  [
    '“{}” failed: the answer says so, and keeps what was there',
    '„{}“ ist fehlgeschlagen: die Antwort sagt es und behält, was da war',
  ],
];

/** What the graph does not know. */
const GRAPH: readonly Sentence[] = [
  ['both names mean the same entity', 'beide Namen meinen dieselbe Entität'],
  ['no path of up to {} steps{} was found', 'Es gibt keinen Weg mit höchstens {} Schritten{}'],
  ['the graph has no entity named {}; did you mean one of the suggestions?', 'Im Graphen gibt es {} nicht'],
  ['the graph has no entity named {}', 'Im Graphen gibt es {} nicht'],
];

/** Why a file, a document or a source is refused, and what may be done. */
const FILES: readonly Sentence[] = [
  ['the file is empty', 'die Datei ist leer'],
  ['The file is empty.', 'Die Datei ist leer.'],
  ['the file is larger than the limit of {} bytes', 'die Datei ist größer als die erlaubten {} Bytes'],
  ['The file has {} bytes; {} are allowed.', 'Die Datei hat {} Bytes; erlaubt sind {}.'],
  ['The file is larger than {} MiB.', 'Die Datei ist größer als {} MiB.'],
  ['The document has {} pages; {} are allowed.', 'Das Dokument hat {} Seiten; erlaubt sind {}.'],
  ['No text was found in the document.', 'Im Dokument wurde kein Text gefunden.'],
  ['The file is encrypted and needs a password.', 'Die Datei ist verschlüsselt und braucht ein Passwort.'],
  [
    'The PDF is damaged or incomplete and cannot be opened.',
    'Das PDF ist beschädigt oder unvollständig und lässt sich nicht öffnen.',
  ],
  [
    'The file is named like a {} document but is not one, or it is damaged.',
    'Die Datei heißt wie ein Dokument des Formats {}, ist aber keines oder ist beschädigt.',
  ],
  [
    'The file is damaged or incomplete: its ZIP container cannot be opened.',
    'Die Datei ist beschädigt oder unvollständig: ihr ZIP-Behälter lässt sich nicht öffnen.',
  ],
  [
    'This is a binary file of a kind that cannot be read as a document.',
    'Das ist eine Binärdatei, die nicht als Dokument gelesen werden kann.',
  ],
  ['the format is not supported ({}); supported: {}', 'das Format wird nicht unterstützt ({})'],
  ['unknown extension', 'unbekannte Endung'],
  ['no extension, and not text', 'keine Endung, und kein Text'],
  [
    "this workspace's conversion queue is full; try again later",
    'die Warteschlange dieses Arbeitsbereichs ist voll; versuche es später noch einmal',
  ],
  [
    'The object store no longer has the original of this document',
    'Die Originaldatei dieses Dokuments ist nicht mehr gespeichert',
  ],
  [
    "the workspace's quota is {} {}, {} are used{}: delete some, or ask an owner for more",
    'der Arbeitsbereich darf {} {} haben, {} sind belegt{}: lösche etwas, oder bitte jemanden, der ihn besitzt, um mehr',
  ],
  [
    "the workspace's quota is {} {}, {} are used{}: delete some, or ask the operator for more ({})",
    'der Arbeitsbereich darf {} {} haben, {} sind belegt{}: lösche etwas, oder bitte den Betreiber um mehr ({})',
  ],
  ["The file's name is not valid Unicode.", 'Der Name der Datei ist nicht lesbar (kein Unicode).'],
  ['The folder {} cannot be read: {}.', 'Der Ordner {} kann nicht gelesen werden: {}.'],
  ['The repository {} cannot be read: {}.', 'Das Repository {} kann nicht gelesen werden: {}.'],
  ['The file cannot be read: {}.', 'Die Datei kann nicht gelesen werden: {}.'],
  [
    'The file changed while being read; the next synchronisation will pick it up.',
    'Die Datei änderte sich, während sie gelesen wurde; der nächste Abgleich nimmt sie auf.',
  ],
  ['It is a pipe, a socket or a device.', 'Das ist keine gewöhnliche Datei.'],
  [
    'The repository holds a pointer to the file (Git LFS), not the file itself.',
    'Das Repository enthält nur einen Verweis auf die Datei (Git LFS), nicht die Datei selbst.',
  ],
  ["The repository lacks the file's content: {}.", 'Im Repository fehlt der Inhalt der Datei: {}.'],
  [
    'The link leads out of the folders that the operator allows.',
    'Der Link führt aus den Ordnern heraus, die der Betreiber erlaubt.',
  ],
  [
    "The path is not below a folder that is open to sources of this workspace. The operator names it in SOURCE_ROOTS; a folder without names is open to the administrator's alone.",
    'Der Pfad liegt in keinem Ordner, der für Quellen dieses Arbeitsbereichs offen ist. Der Betreiber nennt ihn in SOURCE_ROOTS.',
  ],
  [
    "No folder is open to sources of this workspace. The operator names it in SOURCE_ROOTS; a folder without names is open to the administrator's alone.",
    'Für Quellen dieses Arbeitsbereichs ist kein Ordner offen. Der Betreiber nennt ihn in SOURCE_ROOTS.',
  ],
  ['The page redirects more than {} times.', 'Die Seite leitet mehr als {}-mal weiter.'],
  ["The site's robots.txt does not allow this page.", 'Die robots.txt der Website erlaubt diese Seite nicht.'],
  ['The page redirects to another site, {}.', 'Die Seite leitet zu einer anderen Website weiter, {}.'],
  ['Content of type {} is not supported.', 'Inhalt des Typs {} wird nicht unterstützt.'],
  [' and this needs {} more', ', und dies braucht {} mehr'],
  ['documents', 'Dokumente'],
  ['bytes', 'Bytes'],
  ['sources', 'Quellen'],
  ['{} is not a folder', '{} ist kein Ordner'],
  ['{} cannot be opened: {}', '{} kann nicht geöffnet werden: {}'],
  [
    'Only owners may change the settings of a workspace',
    'Einstellungen eines Arbeitsbereichs ändert nur, wer ihn besitzt',
  ],
  ['Only owners may change the presets of a workspace', 'Vorlagen eines Arbeitsbereichs ändert nur, wer ihn besitzt'],
  [
    'no note or fact of yours has this id; messages stay as they were said',
    'keine deiner Notizen oder Fakten hat diese Kennung; Nachrichten bleiben, wie sie waren',
  ],
  ['this needs the role {}; the key has {}', 'nötig ist die Rolle {}; der Schlüssel hat {}'],
  [
    'At most {} runs may wait: let some of them end, or cancel them',
    'Höchstens {} Läufe dürfen warten: lass einige enden, oder brich sie ab',
  ],
  [
    'the keys of this workspace together send too many requests',
    'die Schlüssel dieses Arbeitsbereichs senden zusammen zu viele Anfragen',
  ],
  ['the database did not give a connection in time', 'die Datenbank hat nicht rechtzeitig geantwortet'],
  ['the database did not complete the transaction', 'die Datenbank hat den Vorgang nicht abgeschlossen'],
  ['the object store does not answer as it should', 'der Objektspeicher antwortet nicht, wie er soll'],
  ['the index did not answer in time', 'der Index hat nicht rechtzeitig geantwortet'],
];

export const sentences: readonly Sentence[] = [...ISSUES, ...DOUBTS, ...STEPS, ...GRAPH, ...FILES, ...CAUSES];
