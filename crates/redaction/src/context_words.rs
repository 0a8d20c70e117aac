//! The words that tell what a number is, by topic, in the languages the service meets.

/// What a context word speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Telephony, said outright.
    Phone,
    /// Words that go with a telephone number but with others too.
    PhoneWeak,
    /// Payment cards.
    Card,
    /// United States social security numbers.
    Ssn,
    /// United States taxpayer numbers.
    Itin,
    /// Network addresses.
    Network,
    /// Orders, invoices, identifiers: a number that is none of ours.
    Other,
    /// Releases and builds: four groups that are no address.
    Version,
}

/// Words by topic, in the languages the service meets. In ASCII a match is a whole word or a joint
/// of a field name; in other scripts, whose words take endings, it may go on.
#[rustfmt::skip]
pub(crate) const WORDS: &[(Topic, &[&str])] = &[
    (
        Topic::Phone,
        &[
            "phone", "phones", "telephone", "tel", "telefone", "telefono", "teléfono", "téléphone",
            "telephon", "mobile", "mob", "mobil", "móvil", "movil", "cell", "cellphone",
            "cellular", "celular", "cellulare", "landline", "fax", "telefax", "call", "called",
            "calling", "callback", "caller", "caller id", "caller_id", "callerid", "dial",
            "ring me", "ring us", "ring him", "ring her", "ring them", "please ring", "to ring",
            "can ring", "or ring", "whatsapp", "sms", "text me", "text us", "texted", "msisdn",
            "hotline", "helpline", "voicemail", "messages from", "message from", "texts from",
            "calls from", "text at", "text to", "switchboard", "answering at", "answering on",
            "reach me", "reach you", "reach us", "reach him", "reach her", "reachable",
            "reached at", "reached on", "reached under", "anrufen", "ruf mich", "handy",
            "durchwahl", "appelez", "appelle", "appeler", "joindre", "portable", "llámame",
            "llamame", "llamar", "ligue", "chiamami", "chiamare", "chiama", "bel me", "bellen",
            "dzwoń", "zadzwoń", "mobiel", "mobiele", "mobitel", "cep", "telepon", "telpon",
            "hubungi", "điện thoại", "tālrunis", "telemóvel", "telemovel", "ligar", "contattami",
            "ring mig", "ring meg", "ring oss", "ringa", "ring til", "ph", "customer service",
            "emergency contact", "wrong number", "unter der nummer", "erreichbar", "erreichen",
            "rufen", "zurückrufen", "rückruf", "bel mij", "bereikbaar", "bereiken", "me liga",
            "me ligue", "zavolejte", "zavolejte mi", "zavolaj", "volejte", "hívj", "hívjon",
            "hívható", "számon", "sunați", "suna", "sună", "apelați", "arayın", "arayabilirsiniz",
            "ulaşabilirsiniz", "soita", "soittaa", "numeroon", "gọi", "skambinkite", "zvaniet",
            "helista", "nazovi", "nazovite", "pozovi", "pokliči", "piga simu", "tawagan", "tlf",
            "gsm", "телефон", "тел", "звони", "дзвони", "обади", "καλέστε", "πάρε με", "התקשר",
            "להתקשר", "חייג", "اتصل", "اتصال", "واتساب", "تماس", "کال", "कॉल", "நம்பர்", "அழை",
            "დამირეკე", "զանգ", "подзвони", "звоните", "позвони", "मोबाइल", "फोन", "फ़ोन", "नंबर",
            "नम्बर", "هاتف", "هاتفي", "جوال", "موبايل", "طلفون", "電話", "电话", "撥打", "拨打", "请打",
            "請打", "打给", "打給", "致电", "致電", "联系", "聯繫", "聯絡", "연락", "手机", "手機", "携帯", "전화", "휴대폰",
            "τηλέφων", "κινητ", "تلفن", "موبایل", "فون", "ফোন", "মোবাইল", "தொலைபேசி", "ტელეფონ",
            "հեռախոս", "טלפון", "โทร",
        ],
    ),
    (
        Topic::PhoneWeak,
        &[
            "number", "numbers", "my number is", "his number is", "her number is", "contact",
            "contacts", "reach", "line is", "backup", "nummer", "numéro", "número", "numero",
            "numer", "номер", "رقم", "番号", "号码", "號碼", "번호", "নম্বর", "شماره", "เบอร์", "מספר",
            "αριθμ", "nomor", "numara", "numaram", "numărul", "číslo", "broj", "office", "desk",
            "home", "work", "emergency", "on-call", "extension", "sim",
        ],
    ),
    (
        Topic::Card,
        &[
            "card", "cards", "credit", "debit", "visa", "mastercard", "master card", "amex",
            "american express", "maestro", "discover", "diners", "jcb", "unionpay", "pan", "ccnum",
            "cc", "charge", "payment", "pay", "paid", "paying", "bill", "billed", "bezahlt",
            "bezahlen", "betaald", "betalen", "pagar", "pagado", "pagare", "payer", "payé",
            "zapłacić", "оплат", "karte", "carte", "tarjeta", "cartão", "carta", "kaart", "kort",
            "karta", "kartę", "карта", "карты", "कार्ड", "بطاقة", "信用卡", "卡号", "カード", "카드", "exp",
            "expires", "expiry", "cvv", "cvc", "valid thru",
        ],
    ),
    (
        Topic::Ssn,
        &[
            "ssn", "ssns", "ss#", "ssid", "social security", "social-security", "social",
            "soc sec", "w-2", "w-4", "w-9", "socsec", "security number", "seguro social",
        ],
    ),
    (
        Topic::Itin,
        &[
            "itin", "individual taxpayer", "taxpayer", "tax id", "taxid", "tax identification",
            "tin",
        ],
    ),
    (
        Topic::Network,
        &[
            "ip", "ipv4", "ipv6", "ips", "host", "server", "gateway", "address", "addr", "subnet",
            "dns", "ping", "router", "client", "remote", "peer",
        ],
    ),
    (
        Topic::Other,
        &[
            "order", "orders", "invoice", "ticket", "tickets", "case", "id", "ids", "uid", "uuid",
            "guid", "account", "acct", "routing", "aba", "serial", "isbn", "ean", "upc", "sku",
            "part", "tracking", "track", "shipment", "parcel", "awb", "zip", "zipcode", "postal",
            "postcode", "plz", "coordinates", "lat", "lon", "lng", "latitude", "longitude",
            "timestamp", "ts", "epoch", "amount", "total", "price", "qty", "quantity", "ref",
            "reference", "booking", "confirmation", "transaction", "txn", "batch", "commit",
            "hash", "checksum", "seed", "size", "bytes", "offset", "lines", "loss", "samples",
            "ein", "vat", "ust", "mrn", "imei", "imsi", "iccid", "vin", "policy", "claim", "issue",
            "pr", "bug", "port", "row", "rows", "page", "pages", "created", "updated", "date",
            "array", "tuple", "epochs", "duns", "customer no", "customer number", "customer id",
            "client number", "employee number", "employee id", "student number", "student id",
            "case number", "serial number", "meter number", "numer klienta", "číslo objednávky",
            "member", "license", "licence", "passport", "bestellung", "rechnung", "commande",
            "facture", "pedido", "factura", "ordine", "fattura", "заказ", "счет", "订单", "訂單", "注文",
            "주문", "배송", "운송장", "송장", "고객", "계좌", "예약", "회원", "追跡", "伝票", "予約", "顧客", "口座", "快递",
            "快遞", "运单", "物流", "客户", "会员", "會員", "账户", "账号", "帳號", "帳戶",
        ],
    ),
    (
        Topic::Version,
        &[
            "version", "versions", "ver", "v", "build", "release", "firmware", "fw", "section",
            "chapter", "clause", "revision", "rev", "oid", "upgrade", "upgraded", "driver",
        ],
    ),
];

/// Parts of words: languages that put words together say `Telefonnummer` and `Diensttelefon`, others
/// give the word its ending. They count wherever they stand.
#[rustfmt::skip]
pub(crate) const STEMS: &[(Topic, &[&str])] = &[
    (
        Topic::Phone,
        &[
            "telefon", "telefón", "telefoon", "téléphon", "puhelin", "handynummer", "mobilnummer",
            "mobielnummer", "rufnummer", "komórk",
        ],
    ),
    (Topic::PhoneWeak, &["numaras"]),
    (
        Topic::Card,
        &[
            "kreditkart", "kreditkort", "kredi kart", "creditcard", "creditkaart", "kredietkaart",
            "bankkort", "kortnummer", "kartennummer", "kaartnummer", "luottokort", "bankkárty",
            "hitelkárty",
        ],
    ),
    (
        Topic::Other,
        &[
            "bestellnummer", "rechnungsnummer", "kundennummer", "auftragsnummer", "sendungsnummer",
            "vorgangsnummer", "kontonummer", "ordernummer", "ordrenummer", "factuurnummer",
            "klantnummer", "rekeningnummer", "fakturanummer", "kundenummer", "kundnummer",
            "tilausnumero", "zamówieni", "objednáv", "sipariş", "rendelés", "faktur",
        ],
    ),
];

/// Words after a number that speak of it: `… office`, `… exp 09/29`.
#[rustfmt::skip]
pub(crate) const TELLING_AFTER: &[&str] = &[
    "office", "fax", "mobile", "cell", "home", "work", "exp", "expires", "expiry", "cvv", "cvc",
    "tel", "phone", "number", "ssn", "social security", "social", "電話", "电话", "전화", "연락", "联系",
    "聯絡", "कॉल", "ফোন", "নম্বর", "számon", "numaras", "arayın", "nummer",
];
