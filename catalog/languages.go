package catalog

// Language is a language an assistant can be set to.
type Language struct {
	ID   int64
	Name string
	ISO2 string // ISO 639-1
}

// The ids are part of the contract: append only.
var languages = []Language{
	{1, "English", "en"}, {2, "Romanian", "ro"}, {3, "French", "fr"}, {4, "Spanish", "es"}, {5, "German", "de"},
	{6, "Lithuanian", "lt"}, {7, "Italian", "it"}, {8, "Arabic", "ar"}, {9, "Portuguese", "pt"}, {10, "Danish", "da"},
	{11, "Dutch", "nl"}, {12, "Polish", "pl"}, {13, "Swedish", "sv"}, {14, "Norwegian", "no"}, {15, "Finnish", "fi"},
	{16, "Czech", "cs"}, {17, "Slovak", "sk"}, {18, "Hungarian", "hu"}, {19, "Greek", "el"}, {20, "Turkish", "tr"},
	{21, "Russian", "ru"}, {22, "Ukrainian", "uk"}, {23, "Bulgarian", "bg"}, {24, "Croatian", "hr"}, {25, "Slovenian", "sl"},
	{26, "Serbian", "sr"}, {27, "Latvian", "lv"}, {28, "Estonian", "et"}, {29, "Hebrew", "he"}, {30, "Hindi", "hi"},
	{31, "Bengali", "bn"}, {32, "Urdu", "ur"}, {33, "Tamil", "ta"}, {34, "Telugu", "te"}, {35, "Chinese", "zh"},
	{36, "Japanese", "ja"}, {37, "Korean", "ko"}, {38, "Vietnamese", "vi"}, {39, "Thai", "th"}, {40, "Indonesian", "id"},
	{41, "Malay", "ms"}, {42, "Tagalog", "tl"}, {43, "Persian", "fa"}, {44, "Swahili", "sw"}, {45, "Catalan", "ca"},
	{46, "Icelandic", "is"},
}

// Languages are all languages by id.
func Languages() []Language { return languages }

// LanguageByID finds a language.
func LanguageByID(id int64) (Language, bool) {
	if id < 1 || id > int64(len(languages)) {
		return Language{}, false
	}
	return languages[id-1], true
}

// LanguageOf finds a language by its two-letter code; an unknown code gives the zero Language.
func LanguageOf(iso2 string) Language {
	for _, l := range languages {
		if l.ISO2 == iso2 {
			return l
		}
	}
	return Language{}
}
