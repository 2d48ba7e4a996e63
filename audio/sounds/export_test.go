package sounds

// Render makes a loop anew.
var Render = render
