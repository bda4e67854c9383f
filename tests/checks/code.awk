# code.awk - C source without comments and without the text of strings and character constants, one line in, one
# line out, as "FILE:LINE:code". What the checks grep is code then, not prose.
FNR == 1 { in_comment = 0 }
{
    line = $0; code = ""; i = 1; n = length(line)
    while (i <= n) {
        two = substr(line, i, 2); one = substr(line, i, 1)
        if (in_comment) {
            if (two == "*/") { in_comment = 0; i += 2 } else i++
        } else if (two == "/*") {
            in_comment = 1; i += 2; code = code " "
        } else if (two == "//") {
            break
        } else if (one == "\"" || one == "'") {
            for (i++; i <= n && substr(line, i, 1) != one; i++)
                if (substr(line, i, 1) == "\\") i++
            i++; code = code one one
        } else {
            code = code one; i++
        }
    }
    print FILENAME ":" FNR ":" code
}
