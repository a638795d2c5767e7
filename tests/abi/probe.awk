# Reads a C header of overlaptune and writes a C program that prints what other programs rely on. A
# declaration that it does not know is an error.
{ text = text $0 "\n" }

function print_line(format, arguments) { code = code "  printf(\"" format "\\n\"" arguments ");\n" }

function trimmed(s) { gsub(/[ \t\n]+/, " ", s); gsub(/^ | $/, "", s); return s }

function enumerators(list,    i, n, parts) {
  gsub(/^enum \{|\}$/, "", list)
  n = split(list, parts, ",")
  for (i = 1; i <= n; ++i) {
    sub(/=.*/, "", parts[i])
    parts[i] = trimmed(parts[i])
    print_line("enumerator " parts[i] " %lld", ", (long long)" parts[i])
  }
}

# "int64_t m, n, k" or "char name[SIZE]"
function fields(of, declaration,    i, n, parts, type) {
  n = split(declaration, parts, ",")
  type = parts[1]
  sub(/[A-Za-z0-9_]+(\[[^\]]*\])?$/, "", type)
  parts[1] = substr(parts[1], length(type) + 1)
  for (i = 1; i <= n; ++i) {
    sub(/\[.*/, "", parts[i])
    parts[i] = trimmed(parts[i])
    print_line("field " of "." parts[i] " offset %zu size %zu " trimmed(type),
               ", offsetof(" of ", " parts[i] "), sizeof ((" of "*)0)->" parts[i])
  }
}

# The names of parameters do not count.
function prototype(declaration,    name) {
  sub(/^OVT_API /, "", declaration)
  match(declaration, /ovt_[a-z0-9_]+\(/)
  name = substr(declaration, RSTART, RLENGTH - 1)
  sub(/ovt_[a-z0-9_]+\(/, "(", declaration)
  gsub(/ ?[A-Za-z0-9_]+,/, ",", declaration)
  sub(/ ?[A-Za-z0-9_]+\)$/, ")", declaration)
  print_line("function " name " " declaration, "")
}

END {
  gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", text)
  n = split(text, lines, "\n")
  text = ""
  for (i = 1; i <= n; ++i) {
    if (lines[i] ~ /^#define OVT_[A-Z0-9_]+ +[0-9]+ *$/) {
      split(lines[i], words, / +/)
      print_line("constant " words[2] " %lld", ", (long long)" words[2])
    } else if (lines[i] !~ /^#/ && lines[i] !~ /^extern "C" \{/) {
      text = text " " lines[i]
    }
  }
  n = split(text, statements, ";")
  for (i = 1; i <= n; ++i) {
    s = trimmed(statements[i])
    if (match(s, /^typedef struct [a-z0-9_]+ \{ /)) {
      split(s, words, " ")
      inside = words[3]
      print_line("struct " inside " size %zu", ", sizeof(" inside ")")
      s = substr(s, RLENGTH + 1)
    }
    if (s == "} " inside && inside != "") inside = ""
    else if (inside != "") fields(inside, s)
    else if (s ~ /^enum \{.*\}$/) enumerators(s)
    else if (s ~ /^typedef struct [a-z0-9_]+ [a-z0-9_]+$/) print_line(s, "")
    else if (s ~ /^typedef [a-z0-9_]+ [a-z0-9_]+$/) {
      split(s, words, " ")
      print_line(s " size %zu", ", sizeof(" words[3] ")")
    }
    else if (s ~ /^OVT_API .*ovt_[a-z0-9_]+\(.*\)$/) prototype(s)
    else if (s != "" && s != "}") {
      print "not understood: " s > "/dev/stderr"
      exit 1
    }
  }
  printf "#include <overlaptune/%s>\n#include <stdio.h>\n\nint main(void) {\n%s  return 0;\n}\n", header, code
}
