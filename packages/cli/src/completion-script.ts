export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * What a shell has to be told so that it asks this program for the words of a line. A full stop ends the words, so that an
 * empty last one is not lost.
 */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `_botcli() {
  local IFS=$'\\n'
  COMPREPLY=($("$1" completion bash --words="$(printf '%s\\n' "\${COMP_WORDS[@]:1:COMP_CWORD}" .)" 2>/dev/null))
}
complete -o default -F _botcli botcli
`,
  zsh: `#compdef botcli
_botcli() {
  local -a found
  found=("\${(@f)$("$words[1]" completion zsh --words="$(printf '%s\\n' "\${(@)words[2,CURRENT]}" .)" 2>/dev/null)}")
  if [[ -n "$found[1]" ]]; then
    _describe botcli found
  else
    _files
  fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _botcli botcli
`,
  fish: `function __botcli_words
  set -l words (commandline -opc) (commandline -ct) .
  $words[1] completion fish --words=(string join \\n -- $words[2..-1] | string collect) 2>/dev/null
end
complete -c botcli -a '(__botcli_words)'
`,
};
