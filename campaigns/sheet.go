package campaigns

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"parley/fault"
	"parley/value"
)

// Bounds of an imported file.
const (
	MostRows = 50_000  // lines below the header
	mostLine = 2 << 20 // bytes: 100 values of 4000 letters
)

// Sheet says how a CSV file with a header row is read: every column that is no number becomes a variable.
type Sheet struct {
	Campaign   ID
	Phone      string   // name of the column with the lead's number
	Secondary  []string // those with numbers of contacts
	Duplicates bool     // the number may be in the campaign already
}

// sheetRow is one line as a lead, or what is wrong with it.
type sheetRow struct {
	at    int // as a spreadsheet counts: the header is row 1
	wrong string
	NewLead
}

// sheetReader reads a file line by line.
type sheetReader struct {
	Sheet
	file *csv.Reader
	head []string
	at   int
}

// open reads the header. The error is a fault when the file is no sheet, or has not the columns.
func (s Sheet) open(r io.Reader) (*sheetReader, error) {
	text := bufio.NewReader(&lineBound{r: r})
	file := csv.NewReader(text)
	file.FieldsPerRecord, file.TrimLeadingSpace, file.ReuseRecord, file.Comma = -1, true, true, separator(text)
	head, err := file.Read()
	if err != nil {
		return nil, noSheet()
	}
	head = slices.Clone(head)
	head[0] = strings.TrimPrefix(head[0], "\ufeff")
	if !slices.Contains(head, s.Phone) {
		return nil, fault.Input(fault.Bad("phone_column", "in"))
	}
	for i, c := range s.Secondary {
		if !slices.Contains(head, c) {
			return nil, fault.Input(fault.Bad("secondary_columns."+strconv.Itoa(i), "in"))
		}
	}
	return &sheetReader{s, file, head, 1}, nil
}

func noSheet() error { return fault.Input(fault.Bad("file", "file.type", "csv")) }

// next is the next line; io.EOF after the last.
func (s *sheetReader) next() (sheetRow, error) {
	record, err := s.file.Read()
	s.at++
	switch _, malformed := errors.AsType[*csv.ParseError](err); {
	case malformed:
		return sheetRow{at: s.at, wrong: "This line cannot be read"}, nil
	case errors.Is(err, errLongLine):
		return sheetRow{}, noSheet()
	case err != nil:
		return sheetRow{}, err
	case s.at > 1+MostRows:
		return sheetRow{}, fault.Input(fault.Own("file",
			fmt.Sprintf("The file must not have more than %d rows. Send the rest in another one.", MostRows)))
	}
	row := s.row(record)
	row.wrong = unfit(row.NewLead)
	return row, nil
}

// row is the lead of a line: its number, its contacts without repetitions, and variables by the names of the columns.
func (s *sheetReader) row(record []string) sheetRow {
	row := sheetRow{at: s.at, NewLead: NewLead{Campaign: s.Campaign, Duplicates: s.Duplicates}}
	var found []value.Scalar
	for i, cell := range record[:min(len(record), len(s.head))] {
		switch {
		case s.head[i] == s.Phone:
			row.Phone = CleanNumber(cell)
		case slices.Contains(s.Secondary, s.head[i]):
			clean := CleanNumber(cell)
			if e164.MatchString(clean) && !slices.ContainsFunc(row.Contacts, func(k Contact) bool { return k.Phone == clean }) {
				row.Contacts = append(row.Contacts, Contact{Phone: clean})
			}
		case cell != "":
			found = append(found, value.Scalar{Name: s.head[i], Value: cell})
		}
	}
	row.Variables = value.Scalars{}.With(found...)
	row.Contacts = slices.DeleteFunc(row.Contacts, func(k Contact) bool { return k.Phone == row.Phone })
	return row
}

var e164 = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// unfit says why a line cannot become a lead; empty when it can.
func unfit(n NewLead) string {
	var why fault.Field
	switch {
	case !e164.MatchString(n.Phone):
		return "The phone number is not a valid E.164 phone number"
	case len(n.Variables) > MostVariables:
		why = fault.Bad("variables", "max.items", strconv.Itoa(MostVariables))
	}
	for _, v := range n.Variables {
		if text, ok := v.Value.(string); ok && len(text) > MostText && utf8.RuneCountInString(text) > MostText {
			why = fault.Bad("variables."+v.Name, "max.string", strconv.Itoa(MostText))
		}
	}
	return strings.TrimSuffix(why.Sentence, ".")
}

// separator is what stands between the columns: spreadsheets of some countries write semicolons.
func separator(file *bufio.Reader) rune {
	head, _ := file.Peek(4096)
	line, _, _ := bytes.Cut(head, []byte("\n"))
	if bytes.IndexByte(line, ',') < 0 && bytes.IndexByte(line, ';') >= 0 {
		return ';'
	}
	return ','
}

// lineBound ends a file in a line without end, which would be held in memory whole.
type lineBound struct {
	r   io.Reader
	run int // bytes since the last line end
}

var errLongLine = errors.New("campaigns: a line is too long")

func (l *lineBound) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if i := bytes.LastIndexByte(p[:n], '\n'); i >= 0 {
		l.run = n - i - 1
	} else if l.run += n; l.run > mostLine {
		return 0, errLongLine
	}
	return n, err
}
