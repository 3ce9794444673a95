package testdocs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Block is a fenced block of a document.
type Block struct {
	Document string // its path below the module's root, with slashes
	Line     int    // of the first line of its text
	Language string // after the opening fence, "" for a shell
	Text     string // without the fences and the indentation
}

// languages maps the languages of blocks to whether they are run.
var languages = map[string]bool{
	"": true, "bat": true, "python": true, "snakemake": true,
	"json": false, "nginx": false, "text": false, "toml": false, "xml": false,
}

var fenced = regexp.MustCompile("(?ms)^( *)```([a-z]*)\n(.*?)^ *```$")

// Blocks returns the fenced blocks of the documents. root is the module's folder.
func Blocks(root string) (blocks []Block, err error) {
	err = each(root, documents, func(name, text string) error {
		found, err := inDocument(name, text)
		blocks = append(blocks, found...)
		return err
	})
	return blocks, err
}

// inDocument returns the blocks of one document.
func inDocument(document, text string) (blocks []Block, err error) {
	found := fenced.FindAllStringSubmatchIndex(text, -1)
	if n := strings.Count(text, "```"); n != 2*len(found) {
		return nil, fmt.Errorf("%s: %d fences and %d blocks", document, n, len(found))
	}
	for _, m := range found {
		b := Block{
			Document: document, Line: 1 + strings.Count(text[:m[6]], "\n"), Language: text[m[4]:m[5]],
			Text: regexp.MustCompile("(?m)^"+text[m[2]:m[3]]).ReplaceAllString(text[m[6]:m[7]], ""),
		}
		if _, known := languages[b.Language]; !known {
			return nil, fmt.Errorf("%s:%d: it is not known whether blocks of language %q are run", document, b.Line, b.Language)
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// IsRun reports whether a block contains commands or a program, instead of settings, messages or output.
func (b Block) IsRun() bool { return languages[b.Language] }

// Commands returns the commands that a user types: all lines, or those after a prompt if the block shows
// output, too. A command can have several lines. Comments at the start of the block are left out.
func (b Block) Commands() (commands []string) {
	lines := slices.Collect(strings.Lines(b.Text))
	session := strings.HasPrefix(b.Text, "$ ")
	for i := 0; i < len(lines); i++ {
		line, prompt := strings.CutPrefix(lines[i], "$ ")
		if session && !prompt || strings.TrimSpace(line) == "" || len(commands) == 0 && strings.HasPrefix(line, "#") {
			continue
		}
		for i+1 < len(lines) && (strings.HasSuffix(line, "\\\n") || strings.Count(line, "'")%2 == 1) {
			i++
			line += lines[i]
		}
		commands = append(commands, strings.TrimSuffix(line, "\n"))
	}
	return commands
}

// Output returns the lines of a block that are not commands, if it shows output.
func (b Block) Output() (output string) {
	output = b.Text
	if !strings.HasPrefix(output, "$ ") {
		return ""
	}
	for _, c := range b.Commands() {
		output = strings.Replace(output, "$ "+c+"\n", "", 1)
	}
	return output
}
