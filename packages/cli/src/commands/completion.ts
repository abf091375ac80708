import { defineCommand } from '../command-line/command.ts';
import type { CompletionSuggestion } from '../command-line/context.ts';
import { textOption } from '../command-line/options.ts';
import { UsageError } from '../failure.ts';
import type { CommandReport } from '../output/report.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

export const command = defineCommand({
  summary: 'Print a script for shell completion',
  details:
    'bash: add eval "$(botcli completion bash)" to ~/.bashrc\n' +
    'zsh: add eval "$(botcli completion zsh)" to ~/.zshrc\n' +
    'fish: botcli completion fish > ~/.config/fish/completions/botcli.fish',
  isLocal: true,
  arguments: { shell: { description: 'bash, zsh or fish', words: shells } },
  options: {
    words: textOption({
      description: 'Used by the scripts: the words of the command line, one per line, followed by a full stop',
      placeholder: 'LINES',
    }),
  },
  examples: ['completion bash', 'completion zsh', 'completion fish'],
  run: async ({ suggest }, { shell, words }) => {
    const name = shells.find((candidate) => candidate === shell);
    if (name === undefined)
      throw new UsageError(`SHELL must be one of ${shells.join(', ')}, not ${JSON.stringify(shell)}.`);
    return words === undefined
      ? document(completionScripts[name])
      : document(formatSuggestions(name, await suggest(words.split('\n').slice(0, -1))));
  },
});

function formatSuggestions(shell: Shell, suggestions: readonly CompletionSuggestion[]): string {
  const lines = suggestions.map(({ word, description }) => {
    if (shell === 'fish') return `${word}\t${description}`;
    return shell === 'zsh' && description !== '' ? `${word.replaceAll(':', '\\:')}:${description}` : word;
  });
  return lines.map((line) => `${line}\n`).join('');
}

function document(content: string): CommandReport {
  return { json: content, blocks: [{ kind: 'document', text: content }] };
}

/**
 * The completion script of each shell. The script passes the typed words to botcli, one per line, followed by a line `.`.
 * Without this line, `$(...)` would strip trailing line feeds and lose an empty last word.
 */
const completionScripts: Readonly<Record<Shell, string>> = {
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
