package agent

import "parley/words"

// Splitter cuts a growing text into sentences that can be spoken one by one.
type Splitter = words.Splitter
