# Makes a man page from the output of `--help` of one command. Variables: name, version, date.

function roff(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  sub(/^[.']/, "\\\\\\&&", text)
  return text
}

function end_verbatim() {
  if (verbatim) print ".fi\n.RE"
  verbatim = 0
}

NR == 1 {
  printf ".TH %s 1 %s \"%s\" \"User Commands\"\n", toupper(roff(name)), date, version
  print ".nh"  # flags stay whole
  summary = $0
  sub(/\.$/, "", summary)
  printf ".SH NAME\n%s \\- %s\n", roff(name), roff(summary)
  next
}

/^Usage: / {
  printf ".SH SYNOPSIS\n%s\n", roff(substr($0, 8))
  next
}

# "Options:", "Exit codes:"
/^[A-Z][A-Za-z ]*:$/ {
  end_verbatim()
  heading = substr($0, 1, length($0) - 1)
  sub(/^Example$/, "Examples", heading)
  sub(/^Exit codes$/, "Exit status", heading)
  printf ".SH %s\n", toupper(heading)
  tagged = heading ~ /^(Options|Positionals|Subcommands|Measure|Ask|Plan|Keep|Environment)$/
  if (!tagged) print ".RS 4\n.nf"
  verbatim = !tagged
  next
}

/^$/ { next }

verbatim { print roff(substr($0, 3)); next }

# A name and its description, which is two blanks or more behind it or on the next line.
/^  [^ ]/ {
  line = substr($0, 3)
  text = ""
  if (match(line, /  +/)) {
    text = substr(line, RSTART + RLENGTH)
    line = substr(line, 1, RSTART - 1)
  }
  printf ".TP\n.B %s\n", roff(line)
  if (text != "") print roff(text)
  next
}

{
  sub(/^ +/, "")
  print roff($0)
}

END {
  end_verbatim()
  print ".SH SEE ALSO"
  print name == "overlaptune" ? "overlaptune\\-tune(1), overlaptune\\-query(1)" : "overlaptune(1)"
}
