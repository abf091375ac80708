import { command as define } from '../command.ts';
import { completionScripts, type Shell, shells } from '../completion-script.ts';
import { UsageError } from '../failure.ts';
import { text } from '../options.ts';
import type { Report } from '../report.ts';
import type { Suggestion } from '../suggestion.ts';

export const command = define({
  summary: 'Let the shell complete commands, options and their values',
  details:
    'Prints a script for the shell to read at startup. For bash put eval "$(botcli completion bash)" into ~/.bashrc, for zsh ' +
    'eval "$(botcli completion zsh)" into ~/.zshrc; for fish: botcli completion fish > ~/.config/fish/completions/botcli.fish.',
  isLocal: true,
  arguments: { shell: { description: 'bash, zsh or fish', words: shells } },
  options: {
    words: text({
      description: 'For the shell: words of a line, one on each line, a full stop after them',
      placeholder: 'LINES',
    }),
  },
  examples: ['completion bash', 'completion zsh', 'completion fish'],
  run: async ({ suggest }, { shell, words }) => {
    const name = shells.find((candidate) => candidate === shell);
    if (name === undefined) throw new UsageError(`SHELL takes ${shells.join(', ')}, not ${JSON.stringify(shell)}.`);
    return words === undefined
      ? document(completionScripts[name])
      : document(answer(name, await suggest(words.split('\n').slice(0, -1))));
  },
});

function answer(shell: Shell, found: readonly Suggestion[]): string {
  const told = found.map(({ word, meaning }) => {
    if (shell === 'fish') return `${word}\t${meaning}`;
    return shell === 'zsh' && meaning !== '' ? `${word.replaceAll(':', '\\:')}:${meaning}` : word;
  });
  return told.map((line) => `${line}\n`).join('');
}

function document(content: string): Report {
  return { json: content, blocks: [{ kind: 'document', text: content }] };
}
