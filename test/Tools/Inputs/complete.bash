# SPDX-License-Identifier: MIT
# complete.bash SCRIPT WORD…: what bash offers for the last word.
source "$1"
shift
function=$(complete -p numera | sed 's/.*-F \([^ ]*\).*/\1/')
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
"$function"
printf '%s\n' "${COMPREPLY[*]}"
